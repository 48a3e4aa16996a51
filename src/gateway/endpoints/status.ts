// How the gateway is.
import { z } from "zod"
import { define, nothing } from "./endpoint.ts"

const partState = z.enum(["starting", "ready", "failed", "off"])
const count = z.number().nullable()
export const usageSums = z.object({
  calls: z.number(),
  /** All of the prompts, read from a cache or not; null where no provider has told. */
  input: count,
  output: count,
  cacheRead: count,
  cacheWrite: count,
  reasoning: count,
  /** US dollars. */
  cost: count,
  uncounted: z.number(),
  unpriced: z.number(),
})

export const statusEndpoints = define({
  "GET /api/status": {
    summary: "Tells the state of every part, what is wrong and what to do about it, and what is open",
    reply: z.object({
      version: z.string(),
      pid: z.number(),
      bootId: z.string(),
      startedAt: z.string(),
      stateFolder: z.string(),
      configPath: z.string(),
      port: z.number(),
      controlPort: z.number(),
      parts: z.record(z.string(), partState),
      problems: z.array(z.object({ part: z.string(), problem: z.string(), next: z.string().optional() })),
      configProblem: z.string().optional(),
      store: z.object({
        accepting: z.boolean(),
        problem: z.string().optional(),
        unwritten: z.number().optional(),
      }),
      jobs: z.object({ ready: z.number(), running: z.number(), dead: z.number() }),
      outbox: z.object({ new: z.number(), sending: z.number(), uncertain: z.number(), dead: z.number() }),
      events: z.object({ waiting: z.number(), setAside: z.number() }),
      waiting: z.object({ approvals: z.number(), pairing: z.number() }),
      channels: z.array(z.unknown()),
      model: z.looseObject({
        id: z.string().optional(),
        error: z.string().optional(),
        warnings: z.array(z.string()).optional(),
      }),
      usage: z.object({ today: usageSums }),
      backup: z
        .object({
          everyMs: z.number(),
          running: z.boolean(),
          last: z
            .object({ createdAt: z.number(), archive: z.string().optional(), bytes: z.number().optional() })
            .nullable(),
          failure: z.object({ at: z.number(), error: z.string() }).nullable(),
        })
        .optional(),
      memoryMb: z.number(),
    }),
  },
  "POST /api/status/dismiss": {
    summary: "Marks the failures that there are as seen: they count no more",
    body: nothing,
    reply: z.object({}),
  },
})
