// The keys of `budget.*`: what the calls of models may take. Nothing is set by itself: an amount that suits nobody would
// be worse than none.
import { z } from "zod"

const cap = (of: string) =>
  z
    .strictObject({
      dollars: z
        .number()
        .min(0)
        .max(1_000_000)
        .optional()
        .meta({ description: `US dollars that ${of} may take.` }),
      tokens: z
        .int()
        .min(0)
        .max(1e12)
        .optional()
        .meta({
          description: `Tokens, of prompts and replies together, that ${of} may take.`,
        }),
    })
    .optional()

export const budgetSchema = z
  .strictObject({
    day: cap("all calls of a day").meta({ description: "Cap of a day." }),
    month: cap("all calls of a calendar month").meta({ description: "Cap of a month." }),
    agent: cap("the calls of one agent in a day").meta({ description: "Cap of each agent, for a day." }),
    agents: z
      .record(z.string().trim().toLowerCase().min(1), cap("this agent's calls in a day").unwrap())
      .default({})
      .meta({ description: "Caps of single agents by id, instead of `budget.agent`." }),
    session: cap("the calls of one conversation in a day").meta({
      description: "Cap of each conversation, for a day. Beginning it anew does not change what it has taken.",
    }),
    job: cap("the calls of one run").meta({ description: "Cap of each run: a message with all its steps, a webhook." }),
    heartbeat: cap("the heartbeats of a day").meta({ description: "Cap of all heartbeats, for a day." }),
    schedule: cap("the runs of schedules in a day").meta({ description: "Cap of all schedules, for a day." }),
    timersUpTo: z.number().min(0).max(1).default(0.8).meta({
      description:
        "Share of the other caps at which heartbeats and schedules stop, so that the rest is left for people.",
    }),
  })
  .prefault({})
  .meta({
    description:
      "Caps on what the calls of models take. The most that a call can take is held before it is made; one that does not fit is not made.",
  })

export type BudgetConfig = z.infer<typeof budgetSchema>
