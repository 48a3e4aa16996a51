// The keys of `commands.*` and `channels.defaults.*`: what all chat channels share.
import { z } from "zod"

/** `auto` leaves it to the channel; true and false are accepted for on and off. */
const commandSwitchSchema = z
  .union([z.enum(["auto", "on", "off"]), z.boolean()])
  .transform((value) => (typeof value === "boolean" ? (value ? "on" : "off") : value))

const groupPolicySchema = z.enum(["open", "allowlist", "disabled"])

const heartbeatVisibilityShape = {
  showOk: z.boolean().meta({ description: "Sends the acknowledgment of a heartbeat that found nothing." }),
  showAlerts: z.boolean().meta({ description: "Sends what a heartbeat found." }),
  useIndicator: z.boolean().meta({ description: "Shows heartbeats in the status." }),
}

export const commandsSchema = z
  .strictObject({
    native: commandSwitchSchema.prefault("auto").meta({
      description: "Whether commands are put into the platform's menu (`auto`, `on`, `off`); `auto` is on.",
    }),
    nativeSkills: commandSwitchSchema.prefault("auto").meta({
      description:
        "Whether the agent's skills are put into the platform's menu, behind the commands (`auto` is on; none with `native` off). Touching one sends its name to the agent.",
    }),
    text: z.boolean().default(true).meta({
      description:
        "Whether commands written as text are understood, bare stop words and `session.resetTriggers` among them. With `native` off too, nothing is a command.",
    }),
    config: z.boolean().default(false).meta({
      description:
        "Enables `/config`: people of `allowFrom` and people let in by pairing change the file with it, owners also read it, in private chats.",
    }),
    bash: z.boolean().default(false).meta({
      description: "Enables `/bash`, for owners in private chats: a command in the agent's sandbox.",
    }),
    debug: z.boolean().default(false).meta({ description: "Enables `/debug`, for owners in private chats." }),
    restart: z.boolean().default(false).meta({ description: "Enables `/restart`, for owners." }),
    useAccessGroups: z.boolean().default(true).meta({
      description:
        "Whether every command needs a sender who is listed or was let in. When off, whoever is heard may use `/help`, `/commands`, `/status` and `/whoami`.",
    }),
  })
  .prefault({})
  .meta({ description: "Chat commands." })

export const channelDefaultsSchema = z
  .strictObject({
    groupPolicy: groupPolicySchema.optional().meta({
      description: "Group policy of channels that set none.",
    }),
    heartbeat: z
      .strictObject({
        showOk: heartbeatVisibilityShape.showOk.default(false),
        showAlerts: heartbeatVisibilityShape.showAlerts.default(true),
        useIndicator: heartbeatVisibilityShape.useIndicator.default(true),
      })
      .prefault({})
      .meta({
        description:
          "What of heartbeats is shown, for channels that do not say. With all three off, heartbeats ask no model unless events wait.",
      }),
  })
  .prefault({})
  .meta({ description: "What holds for channels that do not say otherwise." })

const bindingMatch = z.strictObject({
  channel: z.string().trim().toLowerCase().min(1).meta({ description: "Name of the channel, such as `chatapp`." }),
  accountId: z
    .string()
    .trim()
    .toLowerCase()
    .min(1)
    .optional()
    .meta({ description: "Account of the channel; unset or `*`: any." }),
  peer: z
    .strictObject({
      kind: z.enum(["dm", "direct", "group", "channel"]).meta({
        description: "`dm` (or `direct`): a private chat, by the id of its person; `group`; `channel`.",
      }),
      id: z
        .union([z.string().trim().toLowerCase().min(1), z.int().transform(String)])
        .meta({ description: "Id of the chat; a group with `:topic:<n>` behind it is one topic of it." }),
    })
    .optional()
    .meta({ description: "One chat. A group stands for all of its topics." }),
})

export const bindingsSchema = z
  .array(
    z.strictObject({
      agentId: z.string().trim().toLowerCase().min(1).meta({ description: "Id of the agent that answers there." }),
      match: bindingMatch.meta({ description: "What goes to it." }),
    }),
  )
  .default([])
  .meta({
    description:
      "Which agent answers where. The most exact one counts: a topic, a chat, an account, a channel; among equals the first. What matches none goes to the default agent.",
  })

export type BindingsConfig = z.infer<typeof bindingsSchema>
export type CommandsConfig = z.infer<typeof commandsSchema>
export type ChannelDefaultsConfig = z.infer<typeof channelDefaultsSchema>
export type CommandSwitch = z.infer<typeof commandSwitchSchema>
