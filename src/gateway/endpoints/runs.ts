// What the agent was asked to do.
import { z } from "zod"
import { before, define, limit, nothing, pageOf, word } from "./endpoint.ts"

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
  /** Beginning of the result. */
  result: z.string().nullable(),
})

const runPath = z.object({ runId: z.string().min(1).max(100) })

export const runEndpoints = define({
  "GET /api/runs": {
    summary: "Lists runs, newest first",
    query: z.object({ limit, before, state: runState.optional(), kind: word.optional(), session: word.optional() }),
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
  "POST /api/runs/:runId/stop": {
    summary: "Stops a run, or takes it out of its queue when it has not begun",
    params: runPath,
    body: nothing,
    reply: z.object({}),
  },
})
