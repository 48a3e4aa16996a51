// What was posted to the webhook endpoints.
import { z } from "zod"
import { before, define, limit, pageOf, rowId, wishKey } from "./endpoint.ts"
import { runState } from "./runs.ts"

const texts = z.record(z.string(), z.string())

export const hookSummary = z.object({
  id: z.number(),
  receivedAt: z.number(),
  /** Id of the mapping, `wake` or `agent`; empty when nothing matched. */
  mapping: z.string(),
  path: z.string(),
  method: z.string(),
  verdict: z.enum(["accepted", "skipped", "duplicate", "refused", "failed"]),
  status: z.number(),
  runIds: z.array(z.string()),
  error: z.string().nullable(),
  bytes: z.number(),
  replayOf: z.number().nullable(),
  tookMs: z.number(),
  /** Who sent it, when nothing was proven; then the row stands for `times` requests of that address in one hour. */
  address: z.string().nullable(),
  times: z.number(),
})

export const hookEndpoints = define({
  "GET /api/hooks": {
    summary: "Lists kept deliveries of webhooks, newest first",
    query: z.object({ limit, before, mapping: z.string().trim().min(1).max(100).optional() }),
    reply: pageOf(hookSummary).extend({ refused: z.record(z.string(), z.number()) }),
  },
  "POST /api/hooks/test": {
    summary:
      "Puts a request to the webhook endpoints without its secret; with `dryRun` it only shows what would be done",
    body: z.strictObject({
      path: z
        .string()
        .trim()
        .transform((path) => path.replace(/^\/+/, ""))
        .pipe(z.string().min(1).max(1000)),
      body: z.string(),
      headers: texts.optional(),
      query: texts.optional(),
      dryRun: z.boolean().optional(),
    }),
    reply: z.object({
      /** Of a dry run: who would take it, and what would be done. */
      mapping: z.string().optional(),
      actions: z.array(z.json()).optional(),
      /** What the sender would have been answered. */
      status: z.number().optional(),
      answer: z.json().optional(),
    }),
  },
  "GET /api/hooks/:id": {
    summary: "Shows a delivery: its payload, what was made of it, and its runs",
    params: rowId,
    reply: hookSummary.extend({
      headers: texts,
      query: texts,
      body: z.string(),
      answer: z.json(),
      runs: z.array(
        z.object({
          runId: z.string(),
          state: runState,
          reply: z.string().nullable(),
          error: z.string().nullable(),
        }),
      ),
    }),
  },
  "POST /api/hooks/:id/replay": {
    summary: "Puts a kept delivery to the endpoints once more",
    params: rowId,
    body: z.strictObject({ key: wishKey }),
    reply: z.object({ status: z.number(), answer: z.json() }),
  },
})
