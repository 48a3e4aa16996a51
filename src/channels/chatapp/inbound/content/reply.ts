// What a message refers to: the message it answers, the words it quotes of it, a message of another chat, a story.
// Shown inside a boundary of its own; whose words they are decides whether the turn is trusted.
import type { Message } from "grammy/types"
import type { TurnContext } from "../../../../agent/turn-input.ts"
import type { Provenance } from "../../../../store/index.ts"
import { hasNames, messageText } from "./content.ts"
import { type RemoteFile, filesOf } from "./files.ts"
import { authorLabel, chatLabel, forwardLabel, isByBot, originLabel } from "./labels.ts"

export interface Reference {
  context: TurnContext
  /** The words are the sender's own, or those of the bot in a turn that held nobody else's. */
  isOwn: boolean
  /** Values stand in the words that nobody has typed: a contact, a name of a file. */
  hasNames: boolean
  files: RemoteFile[]
}

/** `writtenBy` tells whose words a message of the bot is made of. */
export function referenceOf(
  message: Message,
  botId: string,
  writtenBy: (messageId: number) => Provenance | undefined,
): Reference | undefined {
  const { reply_to_message: replied, external_reply: external, quote, reply_to_story: story } = message
  if (replied && !isTopicStart(replied)) {
    const maker = isBots(replied, botId) ? (writtenBy(replied.message_id) ?? "unknown") : undefined
    const isOwn = maker === undefined ? isSame(message, replied) : maker !== "unknown" && maker.trusted
    return build(quote?.text, {
      label: `message ${replied.message_id}${maker ? whichYouWrote(maker) : isOwn ? " of the same sender" : ""}`,
      about: aboutReplied(replied, botId),
      text: messageText(replied as Message),
      isOwn: isOwn && !replied.forward_origin && !isByBot(replied),
      hasNames: hasNames(replied as Message),
      files: filesOf(replied),
    })
  }
  if (external) {
    const id = external.message_id === undefined ? "" : ` ${external.message_id}`
    const about = { sender: originLabel(external.origin) }
    return build(quote?.text, {
      label: `message${id} of another chat`,
      about: external.chat ? { ...about, chat: chatLabel(external.chat) } : about,
      text: messageText(external as Partial<Message>),
      isOwn: false,
      files: [],
    })
  }
  if (story) {
    return build(undefined, {
      label: `story ${story.id}`,
      about: { sender: chatLabel(story.chat) },
      text: "<media:story>",
      isOwn: false,
      files: [],
    })
  }
  return undefined
}

function whichYouWrote(maker: Provenance | "unknown"): string {
  if (maker === "unknown") return ", which you wrote; whose words it repeats is not known"
  return maker.trusted ? ", which you wrote" : `, which you wrote from words of others (${maker.origin})`
}

interface Referred {
  label: string
  about: Record<string, string>
  text: string | undefined
  isOwn: boolean
  /** Of others' words it makes no difference. */
  hasNames?: boolean
  files: RemoteFile[]
}

function build(quote: string | undefined, referred: Referred): Reference {
  const { label, about, isOwn } = referred
  const verb = quote === undefined ? "In reply to" : "Quoting from"
  return {
    context: {
      label: `${verb} ${label}:`,
      ...(Object.keys(about).length === 0 ? {} : { about }),
      text: quote ?? referred.text ?? "(no words)",
    },
    isOwn,
    hasNames: referred.hasNames ?? false,
    files: referred.files.map((file) => ({ ...file, ofReply: true as const })),
  }
}

function aboutReplied(replied: Message, botId: string): Record<string, string> {
  const author = isBots(replied, botId) ? undefined : authorLabel(replied)
  const forwarded = forwardLabel(replied)
  return {
    ...(author === undefined ? {} : { sender: author }),
    ...(forwarded === undefined ? {} : { forwardedFrom: forwarded }),
  }
}

/** Every message of a topic refers to the one that began it; nobody has answered anything by that. */
function isTopicStart(replied: Message): boolean {
  return replied.forum_topic_created !== undefined
}

function isBots(replied: Message, botId: string): boolean {
  return replied.from !== undefined && String(replied.from.id) === botId && replied.sender_chat === undefined
}

/** In a channel all posts bear its name, also those of this bot: which of them are whose is not told. */
function isSame(message: Message, replied: Message): boolean {
  if (replied.chat.type === "channel") return false
  const author = ({ sender_chat: chat, from }: Message) => chat?.id ?? from?.id
  return author(message) !== undefined && author(message) === author(replied)
}
