// A pause of everything.
import { z } from "zod"
import { define, nothing } from "./endpoint.ts"

const paused = z.object({
  /** Null while nothing is paused. */
  paused: z.object({ at: z.number(), by: z.string() }).nullable(),
})

export const pauseEndpoints = define({
  "GET /api/pause": { summary: "Tells whether everything is paused", reply: paused },
  "POST /api/pause": {
    summary: "Pauses everything: nothing starts, what runs is put back between two steps; messages are still taken in",
    body: nothing,
    reply: paused,
  },
  "POST /api/resume": {
    summary: "Ends the pause; what has waited goes on",
    body: nothing,
    reply: z.object({ waiting: z.number() }),
  },
})
