// Caps on spending.
import { z } from "zod"
import { define } from "./endpoint.ts"

const amount = z.object({
  /** As the configuration has it. */
  limit: z.number(),
  /** Allowed beyond it by an owner. */
  allowed: z.number(),
  spent: z.number(),
  /** Held for calls under way. */
  held: z.number(),
})

export const capState = z.object({
  /** `day`, `agent:main`, ...: how it is named when more is allowed. */
  id: z.string(),
  scope: z.enum(["day", "month", "agent", "session", "job", "heartbeat", "schedule"]),
  key: z.string(),
  since: z.number(),
  /** When it begins anew; null for one run. */
  until: z.number().nullable(),
  dollars: amount.nullable(),
  tokens: amount.nullable(),
  /** The larger share that is used of the two, 1 being all. */
  share: z.number(),
  state: z.enum(["open", "reached", "lifted"]),
  liftedUntil: z.number().nullable(),
  nearest: z.enum(["dollars", "tokens"]),
  isListed: z.boolean(),
})

const known = z.object({
  timeZone: z.string(),
  caps: z.array(capState),
  /** Calls of this month that were cut: they count as what was held for them, or what they had written. */
  cut: z.object({ calls: z.number(), tokens: z.number(), dollars: z.number() }),
})

export const budgetEndpoints = define({
  "GET /api/budget": {
    summary: "Tells how the caps on spending stand",
    reply: known,
  },
  "POST /api/budget/allow": {
    summary: "Allows more than a cap, or switches it off until tomorrow; runs that it has ended go on",
    body: z
      .strictObject({
        cap: z.string().trim().min(1).max(500),
        dollars: z.number().positive().max(1_000_000).optional(),
        tokens: z.int().positive().max(1e12).optional(),
        untilTomorrow: z.boolean().optional(),
        /** Only while this is the most that the cap lets through, in dollars or else tokens: sent twice, it raises once. */
        ifMostIs: z.number().optional(),
      })
      .refine(({ dollars, tokens, untilTomorrow }) => dollars ?? tokens ?? (untilTomorrow || undefined), {
        error: "needs dollars, tokens or untilTomorrow",
      }),
    reply: z.object({
      cap: capState,
      resumed: z.number(),
      /** Nothing was allowed: the cap is no longer what `ifMostIs` said. */
      isChanged: z.literal(true).optional(),
    }),
  },
})
