// The gateway's own log.
import { z } from "zod"
import { define } from "./endpoint.ts"

export const logLine = z.looseObject({
  level: z.string(),
  time: z.number(),
  msg: z.string(),
  /** Part of the gateway. */
  part: z.string().optional(),
})

export const logEndpoints = define({
  "GET /api/logs": {
    summary: "Reads the gateway's log: its last lines, or with `after` what has come since; a rotation loses none",
    query: z.object({
      limit: z.coerce.number().int().min(1).max(1_000).default(300),
      /** `cursor` of an answer before. */
      after: z.string().max(60).optional(),
      level: z.enum(["trace", "debug", "info", "warn", "error", "fatal"]).optional(),
      /** Words that a line holds, such as the id of a run. */
      text: z.string().trim().max(200).optional(),
    }),
    reply: z.object({
      /** Oldest first. */
      lines: z.array(logLine),
      cursor: z.string(),
      /** Lines before these were left out. */
      cut: z.boolean(),
    }),
  },
})
