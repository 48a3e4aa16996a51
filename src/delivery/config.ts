// The keys of `messages.*` and `delivery.*`: what holds for messages of every channel, in and out.
import { z } from "zod"
import { mentionPatterns } from "../agent/config.ts"

const milliseconds = z.int().min(0).max(600_000)
const queueMode = z.enum(["collect", "steer", "followup", "steer-backlog", "interrupt", "queue"])

export const messagesSchema = z
  .strictObject({
    responsePrefix: z.string().optional().meta({
      description:
        "Put before every reply; `auto` is the agent's name in brackets. Variables: `{model}`, `{modelFull}`, `{provider}`, `{thinkingLevel}`, `{identity.name}`.",
    }),
    ackReaction: z.string().optional().meta({
      description:
        "Reaction that marks a message as seen while its turn runs; empty switches it off. One that the platform does not take is replaced by one like it.",
      defaultText: "the agent's emoji, else 👀",
    }),
    ackReactionScope: z.enum(["off", "none", "direct", "group-all", "group-mentions", "all"]).optional().meta({
      description: "Which messages get the reaction.",
      defaultText: "`group-mentions`; `all` where `reactionLevel` is `ack`",
    }),
    removeAckAfterReply: z.boolean().default(false).meta({
      description: "Whether the reaction goes away once the reply is sent.",
    }),
    groupChat: z
      .strictObject({
        mentionPatterns: mentionPatterns.optional().meta({
          description: "Regular expressions that count as a mention of the agent.",
          defaultText: "the agent's name and emoji",
        }),
        historyLimit: z.int().min(0).optional().meta({
          description: "Messages of a group that are shown as context, for channels that set none; 0 disables.",
        }),
      })
      .prefault({})
      .meta({ description: "Messages in groups." }),
    inbound: z
      .strictObject({
        debounceMs: milliseconds.default(0).meta({
          description:
            "Milliseconds to wait for further text messages of the same sender before a turn starts; 0 is off.",
        }),
        byChannel: z.record(z.string().min(1), milliseconds).default({}).meta({ description: "The same by channel." }),
      })
      .prefault({})
      .meta({ description: "Messages as they arrive." }),
    queue: z
      .strictObject({
        mode: queueMode.default("collect").meta({
          description:
            "Messages of a person that arrive during a turn: `collect` joins them into one next turn, `followup` gives each a turn, `steer` puts them into the running turn at its next step, `steer-backlog` does that and gives each a turn too, `interrupt` stops the running turn. `queue` is the older name of `steer`. In a session `/queue` says otherwise.",
        }),
        byChannel: z.record(z.string().min(1), queueMode).default({}).meta({ description: "Mode by channel." }),
        debounceMs: milliseconds.default(1000).meta({
          description: "Milliseconds without a new arrival before the queue is taken up.",
        }),
        debounceMsByChannel: z
          .record(z.string().min(1), milliseconds)
          .default({})
          .meta({ description: "The same by channel." }),
        cap: z.int().min(1).default(20).meta({ description: "Messages of a person in a chat that may wait." }),
        drop: z.enum(["summarize", "old", "new"]).default("summarize").meta({
          description:
            "At the cap: drop the oldest and keep a line of it, drop the oldest, or refuse the newest. The person is told, and so is the agent.",
        }),
      })
      .prefault({})
      .meta({ description: "Messages that arrive while a turn runs." }),
  })
  .prefault({})
  .meta({ description: "Messages of every channel." })

export type MessagesConfig = z.infer<typeof messagesSchema>

export const deliverySchema = z
  .strictObject({
    onUncertain: z.enum(["ask", "resend", "leave"]).default("ask").meta({
      description:
        "What becomes of a message of which nobody knows whether it has arrived (its connection or the gateway ended before the platform answered): `ask` tells the chat and puts a button there that sends it again; `resend` sends it once more, so that it may come twice; `leave` only counts it. The agent is told in any case.",
    }),
  })
  .prefault({})
  .meta({ description: "How messages go out." })

export type DeliveryConfig = z.infer<typeof deliverySchema>
