// Tabs that are handed to a person: links to them, and what the page behind a link sends. The page is /dashboard/takeover.html;
// what it is shown comes as a stream at /takeover/stream (see gateway/takeover/stream.ts).
import { z } from "zod"
import { define, nothing } from "./endpoint.ts"

const word = z.string().trim().min(1).max(200)

export const takeoverSummary = z.object({
  id: z.string(),
  /** `waiting`: the link was not opened yet; `gone`: the tab was closed, or its browser has ended. */
  state: z.enum(["waiting", "open", "given-back", "expired", "gone"]),
  profile: z.string(),
  targetId: z.string(),
  reason: z.string(),
  /** Of the turn that asked; null when a person did. */
  session: z.string().nullable(),
  askedAt: z.number(),
  expiresAt: z.number(),
  openedAt: z.number().nullable(),
  endedAt: z.number().nullable(),
})

export const takeoverLink = z.object({
  id: z.string(),
  /** For a browser of this machine. Works once. */
  url: z.string(),
  /** For other devices; the first is the best. */
  others: z.array(z.string()),
  expiresAt: z.number(),
  reason: z.string(),
})

const one = z.object({ id: z.string().trim().min(4).max(64) })

export const takeoverEndpoints = define({
  "GET /api/browser/takeovers": {
    summary: "Lists the tabs that were handed to a person, newest first",
    query: z.object({ limit: z.coerce.number().int().min(1).max(200).default(20) }),
    reply: z.object({ takeovers: z.array(takeoverSummary) }),
  },
  "POST /api/browser/takeovers": {
    summary:
      "Makes a link by which a person takes a tab over: of `id` a new one; without any field to the newest that waits, else to the tab used last",
    body: z.strictObject({
      id: one.shape.id.optional(),
      profile: word.optional(),
      targetId: word.optional(),
      reason: z.string().trim().max(300).optional(),
    }),
    reply: takeoverLink,
  },
  "POST /api/browser/takeovers/:id/end": {
    summary: "Takes a tab back, or takes back that it was to be handed to somebody",
    params: one,
    body: nothing,
    reply: takeoverSummary,
  },
})

const pixel = z.number().min(-10_000).max(20_000)
const modifiers = z.int().min(0).max(15).default(0)

/** What hands do in a page, in the page's own pixels. */
export const handEvent = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("mouse"),
    event: z.enum(["move", "down", "up"]),
    x: pixel,
    y: pixel,
    button: z.enum(["left", "middle", "right"]).default("left"),
    clicks: z.int().min(0).max(3).default(1),
    held: z.boolean().default(false),
    modifiers,
  }),
  z.strictObject({ kind: z.literal("wheel"), x: pixel, y: pixel, dx: pixel, dy: pixel }),
  z.strictObject({
    kind: z.literal("key"),
    event: z.enum(["down", "up"]),
    key: z.string().min(1).max(40),
    code: z.string().max(40).default(""),
    keyCode: z.int().min(0).max(255).default(0),
    modifiers,
  }),
  z.strictObject({ kind: z.literal("text"), text: z.string().min(1).max(10_000) }),
  z.strictObject({ kind: z.literal("dialog"), accept: z.boolean(), text: z.string().max(2_000).optional() }),
  z.strictObject({
    kind: z.literal("pick"),
    option: z.int().min(0).max(100_000).optional(),
    value: z.string().max(100).optional(),
  }),
  z.strictObject({ kind: z.literal("tab"), targetId: word }),
  z.strictObject({ kind: z.literal("back") }),
  z.strictObject({ kind: z.literal("reload") }),
])

export const handEvents = z.strictObject({ events: z.array(handEvent).min(1).max(200) })
export const claiming = z.strictObject({
  token: z.string().min(20).max(100),
  again: z.boolean().default(false),
  /** Made by the page, which has it then also where the answer is lost; without it one is made for it. */
  key: z
    .string()
    .regex(/^[\w-]{43,100}$/)
    .optional(),
})
