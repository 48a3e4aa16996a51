// The browsers, as a person sees them on the page.
import { z } from "zod"
import { define, word } from "./endpoint.ts"

const number = z.number()
const box = z.object({ x: number, y: number, width: number, height: number })
const tabOf = z.object({ profile: word, targetId: word })

export const seenTab = z.object({
  targetId: z.string(),
  title: z.string(),
  url: z.string(),
  /** It belongs to a turn that acts on words of others. */
  guest: z.boolean(),
})

export const browserEndpoints = define({
  "GET /api/browser": {
    summary: "Tells the browser profiles with their tabs; starts nothing",
    reply: z.object({
      enabled: z.boolean(),
      profiles: z.array(
        z.object({
          name: z.string(),
          running: z.boolean(),
          isDefault: z.boolean(),
          kind: z.enum(["managed", "remote", "relay"]),
          color: z.string(),
          tabs: z.array(seenTab),
          /** What ended it, or kept it from starting. */
          problem: z.string().nullable(),
        }),
      ),
    }),
  },
  "POST /api/browser/start": {
    summary: "Starts the browser of a profile, or connects to it",
    body: z.strictObject({ profile: word }),
    reply: z.object({}),
  },
  "POST /api/browser/stop": {
    summary: "Ends the browser of a profile; one that runs elsewhere is only left",
    body: z.strictObject({ profile: word }),
    reply: z.object({ stopped: z.boolean() }),
  },
  "POST /api/browser/open": {
    summary: "Opens an address in a new tab",
    body: z.strictObject({ profile: word, url: z.string().trim().min(1).max(8_192) }),
    reply: z.object({ targetId: z.string() }),
  },
  "POST /api/browser/close": {
    summary: "Closes a tab",
    body: z.strictObject({ profile: word, targetId: word }),
    reply: z.object({}),
  },
  "GET /api/browser/snapshot": {
    summary: "Reads a tab as the agent does, with the place of each ref in its view",
    query: tabOf,
    reply: z.object({
      url: z.string(),
      /** A ref stands in it as `[ref=e12]`. */
      text: z.string(),
      truncated: z.boolean(),
      /** By ref, in the pixels of the view. */
      boxes: z.record(z.string(), box),
    }),
  },
})

/** `GET /api/browser/live`: lines of JSON, no single answer, so no endpoint. */
export const liveQuery = tabOf

/** A line of it: a frame, or why none is shown. Empty lines say that it goes on. */
export const liveLine = z.union([
  z.object({
    /** JPEG, base64. */
    image: z.string(),
    /** Of the view, in the pixels of the page. */
    width: number,
    height: number,
    scrollX: number,
    scrollY: number,
    url: z.string(),
    title: z.string(),
  }),
  z.object({ hidden: z.string() }),
])
export type LiveLine = z.output<typeof liveLine>
