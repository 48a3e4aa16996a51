// What the calls of models took.
import { z } from "zod"
import { define, limit } from "./endpoint.ts"
import { usageSums } from "./status.ts"

/** By what sums are made; `job` is one run. */
export const usageGroup = z.enum(["day", "model", "session", "job", "agent", "purpose"])
const time = z.string().trim().min(1).max(50)

export const usageEndpoints = define({
  "GET /api/usage": {
    summary: "Sums up what models took, by day (newest first) or another group (costliest first)",
    query: z.object({
      limit,
      by: usageGroup.default("day"),
      /** `7d`, `12h`, `2026-11-01`, or a moment. */
      since: time.optional(),
      until: time.optional(),
    }),
    reply: z.object({
      since: z.number(),
      until: z.number(),
      by: usageGroup,
      /** In which days begin and end. */
      timeZone: z.string(),
      /** `key` is null for calls that belong to none. */
      rows: z.array(usageSums.extend({ key: z.string().nullable() })),
      /** Whether there are more rows than were asked for. */
      more: z.boolean(),
      /** Over all calls of the range, also of rows that were left out. */
      totals: usageSums,
    }),
  },
})
