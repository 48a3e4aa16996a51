// The keys of `session.*`: which conversations share a session, and when a session starts afresh.
import { z } from "zod"

const later = true

/** 04:00: the hour at which the fewest conversations are under way. */
const defaultResetHour = 4
const defaultIdleMinutes = 60

const idleMinutes = z.int().min(1)

const resetRule = z
  .strictObject({
    mode: z.enum(["daily", "idle"]).default("daily").meta({
      description: "`daily` ends a session at an hour of the day, `idle` after a time without messages.",
    }),
    atHour: z.int().min(0).max(23).default(defaultResetHour).meta({
      description: "Hour of the day, in the host's time zone, for `daily`.",
    }),
    idleMinutes: idleMinutes.optional().meta({
      description: `Minutes without messages. With \`daily\` too, whichever comes first ends the session; with \`idle\` the default is ${defaultIdleMinutes}.`,
    }),
  })
  .transform((rule) => (rule.mode === "idle" ? { ...rule, idleMinutes: rule.idleMinutes ?? defaultIdleMinutes } : rule))

export const sessionSchema = z
  .strictObject({
    mainKey: z.string().trim().min(1).default("main").meta({
      description:
        "Another name for the main session where a session is named, such as `agents.defaults.heartbeat.session`; its key stays `agent:<id>:main`.",
    }),
    scope: z.enum(["per-sender", "global"]).default("per-sender").meta({
      description:
        "`global`: every conversation of people of standing is the agent's main session, in groups and topics too, whatever `dmScope` says. Guests and members without standing keep their own, and what groups say among themselves is shown in that group only.",
    }),
    store: z.string().min(1).optional().meta({
      description: "Accepted for older files; sessions are kept in the gateway's database.",
      later,
    }),
    resetTriggers: z.array(z.string().trim().min(1)).default(["/new", "/reset"]).meta({
      description: "Words with which an authorised sender starts a new session. `/new` and `/reset` always do.",
    }),
    idleMinutes: idleMinutes.optional().meta({
      description: "Older form of `session.reset` with mode `idle`; used only when `session.reset` is unset.",
    }),
    reset: resetRule.optional().meta({
      description: "When a session ends by itself.",
      defaultText: `daily at ${defaultResetHour}`,
    }),
    resetByType: z
      .strictObject({
        dm: resetRule.optional().meta({ description: "Rule of direct messages." }),
        group: resetRule.optional().meta({ description: "Rule of groups." }),
        thread: resetRule.optional().meta({ description: "Rule of threads and topics." }),
      })
      .default({})
      .meta({ description: "Rules by kind of conversation; each wins over `session.reset`." }),
    resetByChannel: z.record(z.string().min(1), resetRule).default({}).meta({
      description:
        "Rules by channel; each wins over all others. Under `hook` that of webhooks, whose sessions do not end by themselves without it.",
    }),
    keepDays: z.int().min(1).max(36_500).optional().meta({
      description:
        "Days for which the messages of a conversation are kept after it has ended: by its reset rule, `/new` or `/reset`. What goes on is never touched. Sessions of hooks have `hooks.keepSessionDays`.",
      defaultText: "for good",
    }),
    dmScope: z.enum(["main", "per-peer", "per-channel-peer", "per-account-channel-peer"]).default("main").meta({
      description:
        "Which direct messages share a session. `main`: all of them share the agent's main session, but for guests, who always have one of their own. `per-peer`: each person has one, whatever the channel; `per-channel-peer` and `per-account-channel-peer`: one for each channel, or each account of a channel.",
    }),
    identityLinks: z
      .record(z.string().min(1), z.array(z.string().min(1)))
      .default({})
      .meta({
        description:
          "Ids of one person, `<id>` or `<channel>:<id>`, by a name of your choice: with a `dmScope` other than `main` they share a session.",
      }),
    typingIntervalSeconds: z.int().min(1).max(60).default(5).meta({
      description: "Seconds after which the typing indicator is refreshed; the platform shows it for five.",
    }),
  })
  .transform(({ idleMinutes: legacyIdleMinutes, reset, ...session }) => ({
    ...session,
    reset: reset ?? resetFromLegacy(legacyIdleMinutes),
  }))
  .prefault({})
  .meta({ description: "Sessions." })

function resetFromLegacy(minutes: number | undefined): ResetRule {
  if (minutes === undefined) return { mode: "daily", atHour: defaultResetHour }
  return { mode: "idle", atHour: defaultResetHour, idleMinutes: minutes }
}

export type ResetRule = z.infer<typeof resetRule>
export type SessionConfig = z.infer<typeof sessionSchema>
