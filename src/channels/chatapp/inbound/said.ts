// What was said, as the input of a turn: words, what they refer to, files to fetch, and whether all of it can be
// trusted. The same for a new message and for its edited form.
import type { Message, Sticker } from "grammy/types"
import type { TurnInput } from "../../../agent/turn-input.ts"
import { type Json, addressesIn, sitesIn } from "../../../kernel/index.ts"
import {
  type Content,
  type RemoteFile,
  authorLabel,
  forwardLabel,
  isByBot,
  referenceOf,
  stickerFacts,
  viaBotLabel,
} from "./content/index.ts"
import { type Standing, headerOf } from "./header.ts"
import { refOf } from "./join.ts"
import type { Place } from "./place.ts"
import type { PlanContext } from "./planned.ts"

/** What `TurnInput.pending` is for this channel. A type and not an interface: it is kept as JSON. */
export type Pending = { files: RemoteFile[] }

export function saidInput(
  message: Message,
  said: { place: Place; content: Content; standing: Standing; isLate?: boolean },
  context: Pick<PlanContext, "botId" | "settings" | "look">,
): TurnInput {
  const { place, content, standing } = said
  const forwarded = forwardLabel(message)
  const viaBot = viaBotLabel(message)
  const writtenBy = (messageId: number) => context.look.writtenBy(message.chat, messageId)
  const reference = referenceOf(message, context.botId, writtenBy)
  const author = authorLabel(message)
  // Forwarded words are somebody else's, whoever sends them on; so are those that another bot has written for the sender.
  const hasOwnWords = standing.trusted && forwarded === undefined && viaBot === undefined
  const trusted = hasOwnWords && (reference?.isOwn ?? true)
  // What another bot has put into somebody's mouth he has not typed, either.
  const isTyped = forwarded === undefined && !isByBot(message)
  const typed = isTyped ? (message.text ?? message.caption ?? "") : ""
  const sites = [...sitesIn(typed), ...addressesIn(typed)]
  const files = [...content.files, ...(reference?.files ?? [])]
  return {
    agentId: place.agentId,
    sessionKey: place.sessionKey,
    purpose: "chat",
    origin: standing.origin,
    trusted,
    // Words of somebody else beside them take their authority, not their form.
    ...(hasOwnWords && !trusted ? { wrap: false } : {}),
    ...(!standing.trusted && place.route.chatKind === "private" ? { guestSession: true as const } : {}),
    ...(sites.length > 0 ? { sites } : {}),
    header: headerOf(message, { place, standing, envelope: context.settings.envelope, isLate: said.isLate ?? false }),
    about: {
      ...(author === undefined ? {} : { sender: author }),
      ...(forwarded === undefined ? {} : { forwardedFrom: forwarded }),
      ...(viaBot === undefined ? {} : { viaBot }),
    },
    text: content.text,
    ...(content.hasNames || reference?.hasNames ? { names: true as const } : {}),
    ...(message.sticker ? { sticker: stickerOf(message.sticker) } : {}),
    ...(reference ? { context: [{ ...reference.context, ...(reference.isOwn ? { isOwn: true as const } : {}) }] } : {}),
    ...(files.length === 0 ? {} : { pending: { files } satisfies Pending as Json }),
    ref: refOf(place.route.account, message.chat.id, message.message_id),
    sentAt: message.date * 1000,
    route: place.route,
  }
}

function stickerOf(sticker: Sticker): NonNullable<TurnInput["sticker"]> {
  return { ...stickerFacts(sticker), fileId: sticker.file_id, fileUniqueId: sticker.file_unique_id }
}
