// The keys of `approvals.*`: how long a question to the owner stands.
import { z } from "zod"

/** A week: longer than that nobody remembers what was asked. */
const maxMinutes = 7 * 24 * 60

export const approvalsSchema = z
  .strictObject({
    validMinutes: z.int().min(1).max(maxMinutes).default(60).meta({
      description:
        "Minutes that an owner has to answer what the agent asks, and then again that the agent has to do what was allowed.",
    }),
  })
  .prefault({})
  .meta({ description: "Questions to the owner about what the agent may not do by itself." })

export type ApprovalsConfig = z.infer<typeof approvalsSchema>
