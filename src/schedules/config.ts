// The keys of `cron.*`: schedules that the operator writes down. Others are made by `svc cron add` and by the agent.
import { z } from "zod"

const word = z.string().trim().min(1)

export const missedRules = ["late", "skip", "each"] as const

const job = z
  .strictObject({
    id: z
      .string()
      .trim()
      .toLowerCase()
      .regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, "must be 1 to 40 lower-case letters, digits, dashes and underscores")
      .meta({ description: "Name of the job; it keeps its history under it." }),
    cron: word.optional().meta({ description: "Times as five fields, such as `0 9 * * 1-5`." }),
    every: word.optional().meta({ description: "Or a time between two runs, such as `30m`." }),
    at: word.optional().meta({ description: "Or one moment, such as `2026-12-24 18:00`." }),
    timezone: word.optional().meta({
      description: "Time zone of the times.",
      defaultText: "`agents.defaults.userTimezone`",
    }),
    text: word.meta({ description: "What the agent is told." }),
    agent: word.optional().meta({ description: "Which agent; else the default one." }),
    session: z.enum(["main", "isolated"]).default("isolated").meta({
      description: "In the agent's main conversation, or in one of the schedule's own.",
    }),
    deliver: z.boolean().default(true).meta({ description: "Whether the answer is sent to a chat." }),
    channel: word.default("last").meta({ description: "Channel of the answer, or `last`." }),
    to: word.optional().meta({ description: "Recipient in that channel; else who wrote last to the agent." }),
    account: word.optional().meta({ description: "Account of the channel." }),
    missed: z.enum(missedRules).default("late").meta({
      description:
        "What becomes of times at which the gateway did not run: `late` runs the last one within the grace, `skip` leaves them out and says so, `each` runs every one within the grace.",
    }),
    graceMinutes: z.int().min(1).max(10_080).default(60).meta({
      description: "Minutes for which a time that was missed may still be made up for.",
    }),
    wakeMode: z.enum(["now", "next-heartbeat"]).default("next-heartbeat").meta({
      description: "When the main session looks at the result of an isolated run: at once, or with its next turn.",
    }),
    model: word.optional().meta({ description: "Model of these runs." }),
    timeoutSeconds: z.int().min(1).max(86_400).optional().meta({ description: "Seconds that one run may take." }),
    enabled: z.boolean().default(true).meta({ description: "Whether it runs." }),
  })
  .refine(({ cron, every, at }) => [cron, every, at].filter((each) => each !== undefined).length === 1, {
    error: "needs exactly one of cron, every and at",
  })

export const cronSchema = z
  .strictObject({
    enabled: z.boolean().default(true).meta({ description: "Whether schedules run at all." }),
    jobs: z
      .array(job)
      .default([])
      .refine((jobs) => new Set(jobs.map(({ id }) => id)).size === jobs.length, {
        error: "has two jobs with the same id",
      })
      .meta({ description: "Schedules." }),
  })
  .prefault({})
  .meta({ description: "Schedules: what the agent is told at times." })

export type CronConfig = z.infer<typeof cronSchema>
