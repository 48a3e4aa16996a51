// What the agent was asked to do.
import { z } from "zod"
import { deliverySummary } from "./deliveries.ts"
import { before, define, limit, nothing, pageOf, word, wishKey } from "./endpoint.ts"

export const runState = z.enum(["ready", "running", "done", "dead", "cancelled"])

export const runSummary = z.object({
  /** Cursor of lists. */
  id: z.number(),
  runId: z.string(),
  kind: z.string(),
  session: z.string(),
  state: runState,
  attempts: z.number(),
  createdAt: z.number(),
  startedAt: z.number().nullable(),
  finishedAt: z.number().nullable(),
  error: z.string().nullable(),
  /** Beginning of what it is about. */
  asked: z.string(),
  /** Beginning of the result. */
  result: z.string().nullable(),
})

const time = z.coerce.number().int().min(0).optional()
const runPath = z.object({ runId: z.string().min(1).max(100) })
const count = z.number().nullable()

export const runEndpoints = define({
  "GET /api/runs": {
    summary: "Lists runs, newest first",
    query: z.object({
      limit,
      before,
      state: runState.optional(),
      kind: word.optional(),
      session: word.optional(),
      /** Words of what came in, of the result or of the error. */
      text: word.optional(),
      since: time,
      until: time,
    }),
    reply: pageOf(runSummary),
  },
  "GET /api/runs/:runId": {
    summary: "Shows one run: what came in, its steps, and what has become of its messages",
    params: runPath,
    reply: runSummary.extend({
      delivery: z.unknown(),
      input: z.json(),
      steps: z.array(z.object({ n: z.number(), kind: z.string(), createdAt: z.number(), data: z.json() })),
    }),
  },
  "GET /api/runs/:runId/story": {
    summary: "Tells what belongs to a run beside its steps: how it came in, what it was shown, asked, took and sent",
    params: runPath,
    reply: z.object({
      /** What the gateway took in; null for what it began by itself, and when it is kept no longer. */
      arrival: z
        .object({
          source: z.string(),
          account: z.string(),
          deliveryId: z.string(),
          receivedAt: z.number(),
          /** By which rule of access; null where there is none to name. */
          rule: z.string().nullable(),
          /** Kept delivery of a webhook. */
          hook: z.number().nullable(),
        })
        .nullable(),
      events: z.array(z.object({ id: z.number(), origin: z.string(), createdAt: z.number(), text: z.string() })),
      calls: z.array(
        z.object({
          at: z.number(),
          model: z.string(),
          purpose: z.string(),
          ms: count,
          input: count,
          output: count,
          cacheRead: count,
          /** US dollars. */
          cost: count,
        }),
      ),
      approvals: z.array(z.object({ id: z.string(), state: z.string(), text: z.string(), askedAt: z.number() })),
      messages: z.array(deliverySummary),
      /** The run that it repeats, and from which step. */
      again: z.object({ runId: z.string(), step: z.number().optional() }).nullable(),
      /** Runs that repeat it. */
      repeats: z.array(z.string()),
      /** Runs whose messages were answered with it. */
      takenIn: z.array(z.string()),
    }),
  },
  "POST /api/runs/:runId/stop": {
    summary: "Stops a run, or takes it out of its queue when it has not begun",
    params: runPath,
    body: nothing,
    reply: z.object({}),
  },
  "POST /api/runs/:runId/again": {
    summary: "Runs a turn again, in the same session: from the start, or from one of its steps with what came before",
    params: runPath,
    body: z.strictObject({
      /** Number of a step of the model; without it, from the start. */
      step: z.number().int().min(1).max(100_000).optional(),
      key: wishKey,
    }),
    reply: z.object({ runId: z.string() }),
  },
})
