// What the place of a message asks for: whether the bot has to be addressed there, the operator's words for it, how much
// of the past is shown. And what becomes of words that were not meant for the bot.
import type { Message, Update } from "grammy/types"
import type { TurnInput } from "../../../agent/turn-input.ts"
import { type Sender, toolsOf } from "../../access.ts"
import { groupKey } from "../../../sessions/keys.ts"
import { type AccountSettings, channelName } from "../settings.ts"
import { placeSettings } from "./access.ts"
import { authorLabel, forwardLabel } from "./content/index.ts"
import { historyRow } from "./history.ts"
import { isMentioned } from "./mention.ts"
import { type Place, isDirect } from "./place.ts"
import { type PlanContext, type Planned, entryOf } from "./planned.ts"

/** Whether the message is for the bot: it is addressed, or everything said here is. */
export function addressing(
  message: Message,
  place: Place,
  context: PlanContext,
): { isMentioned: boolean; isForBot: boolean; hearsAll: boolean } {
  const { settings, botId, botName } = context
  if (isDirect(message.chat)) return { isMentioned: false, isForBot: true, hearsAll: false }
  const mentioned = isMentioned(message, { id: botId, username: botName }, settings.mentionsOf(place.agentId))
  const hearsAll = !needsMention(message.chat, place, context)
  return { isMentioned: mentioned, isForBot: mentioned || hearsAll, hearsAll }
}

/** The `/activation` of the group or topic, else its `requireMention`. */
function needsMention(
  chat: Message["chat"],
  place: Place,
  { settings, activationOf }: Pick<PlanContext, "settings" | "activationOf">,
): boolean {
  const activation = activationOf(groupSession(place))
  if (activation !== undefined) return activation === "mention"
  return placeSettings(settings, { chat, topicId: place.topicId })?.requireMention ?? true
}

/** Of the group alone, whatever session its people share. */
export function groupSession({ agentId, route, topicId }: Place): string {
  return groupKey(agentId, channelName, route.chatId, topicId)
}

/** What the place adds to the input of a turn. */
export function placeInput(
  chat: Message["chat"],
  { place, sender }: { place: Pick<Place, "topicId">; sender: Pick<Sender, "id"> },
  settings: AccountSettings,
): Pick<TurnInput, "instructions" | "historyTurns" | "skills" | "tools"> {
  if (isDirect(chat)) {
    const historyTurns = settings.dms?.[String(chat.id)]?.historyLimit ?? settings.dmHistoryLimit
    return historyTurns === undefined ? {} : { historyTurns }
  }
  const configured = placeSettings(settings, { chat, topicId: place.topicId })
  const { systemPrompt: instructions, skills } = configured ?? {}
  const tools = toolsOf(configured, sender.id)
  return {
    ...(instructions === undefined ? {} : { instructions }),
    ...(skills === undefined ? {} : { skills }),
    ...(tools === undefined ? {} : { tools }),
  }
}

/** Kept for the next turn of the conversation, where the configuration wants to know of it. */
export function keepForLater(
  update: Update,
  message: Message,
  said: { place: Place; sender: Sender; input: TurnInput },
  context: PlanContext,
): Planned {
  const { place, sender, input } = said
  const { settings, now } = context
  const chatId = place.route.chatId
  // What a group said is shown in that group alone, whatever session its people share.
  const sessionKey = settings.isOneSession ? groupSession(place) : place.sessionKey
  const entry = entryOf(update, context, {
    kind: "message",
    chat: chatId,
    message: message.message_id,
    sender: sender.id,
    ...(place.topicId === undefined ? {} : { topic: place.topicId }),
    noted: "no-mention",
  })
  const planned: Planned = { kind: "noted", entry, what: "no-mention", chatId }
  if (settings.historyLimit === 0) return planned
  const forwarded = forwardLabel(message)
  entry.rows = [
    historyRow({
      account: settings.accountId,
      sessionKey,
      message,
      senderId: sender.id,
      sender: authorLabel(message) ?? sender.id,
      text: forwarded === undefined ? input.text : `(forwarded from ${forwarded}) ${input.text}`,
      trusted: input.trusted,
      now,
    }),
  ]
  return { ...planned, historyOf: sessionKey }
}
