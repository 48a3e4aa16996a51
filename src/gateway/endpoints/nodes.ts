// Machines that offer their browser.
import { z } from "zod"
import { define } from "./endpoint.ts"

const name = z.string().trim().min(1).max(64)

export const nodeSummary = z.object({
  id: z.string(),
  name: z.string(),
  state: z.enum(["asked", "approved", "revoked"]),
  connected: z.boolean(),
  /** Of its key, as the node shows it too. */
  fingerprint: z.string(),
  platform: z.string(),
  /** Of svc on the node. */
  version: z.string(),
  /** What the node shows while it waits to be let in, and until when it counts. */
  code: z.string().nullable(),
  codeUntil: z.number().nullable(),
  /** Where it connected from the last time. */
  address: z.string(),
  askedAt: z.number(),
  decidedAt: z.number().nullable(),
  decidedBy: z.string().nullable(),
  lastSeenAt: z.number().nullable(),
  connectedSince: z.number().nullable(),
  /** Null while it offers none. */
  browser: z.object({ profiles: z.array(z.string()), defaultProfile: z.string() }).nullable(),
})

const node = z.object({ node: nodeSummary })

export const nodeEndpoints = define({
  "GET /api/nodes": {
    summary: "Lists machines that offer their browser, and those that ask to",
    reply: z.object({ nodes: z.array(nodeSummary) }),
  },
  "POST /api/nodes/approve": {
    summary: "Lets a node in, by its id, its name or the code that it shows",
    body: z.strictObject({ node: name }),
    reply: node,
  },
  "POST /api/nodes/revoke": {
    summary: "Lets a node in no more: its connection ends",
    body: z.strictObject({ node: name }),
    reply: node,
  },
  "POST /api/nodes/rename": {
    summary: "Gives a node another name",
    body: z.strictObject({ node: name, name }),
    reply: node,
  },
})
