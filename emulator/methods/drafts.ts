// sendMessageDraft: a preview of a message that is still being written, shown for half a minute at a time.
import { badRequest } from "../errors.ts"
import type { Draft } from "../feed.ts"
import { findWritableRoom } from "../world/access.ts"
import { readFormattedText } from "../world/formatted-text.ts"
import type { MethodCall, MethodTable } from "./method.ts"
import { readThread } from "./send-options.ts"
import { characters } from "./send-text.ts"

const visibleMs = 30_000
const maxCharacters = 4096

export const draftMethods: MethodTable = { sendMessageDraft }

function sendMessageDraft(call: MethodCall): true {
  const text = readFormattedText(call.world, call.arguments, { text: "text", entities: "entities" })
  if (characters(text.text) > maxCharacters) throw badRequest("Message is too long")
  return showDraft(call, text)
}

/** Checks the destination of a draft and shows it; a draft of the same id is replaced. */
export function showDraft(call: MethodCall, content: Pick<Draft, "text" | "entities" | "richMessage">): true {
  const { world, bot, arguments: source } = call
  const room = findWritableRoom(world, bot, source.text("chat_id"), "text messages")
  if (room.kind() !== "private") throw badRequest("TEXTDRAFT_PEER_INVALID")
  const draftId = source.integer("draft_id")
  if (draftId === 0) throw badRequest("RANDOM_ID_INVALID")
  const threadId = readThread(call, room, source.integer("message_thread_id"))
  if (threadId === undefined && world.options.draftMode === "topics") throw badRequest("TEXTDRAFT_PEER_INVALID")
  bot.flood.countEphemeral(room.chat.id)
  const key = `${threadId ?? 0}:${draftId}`
  const previous = room.drafts.get(key)
  const draft: Draft = {
    ...content,
    draftId,
    ...(threadId === undefined ? {} : { threadId }),
    canStop: source.boolean("can_stop"),
    keepOnStop: source.boolean("keep_on_stop"),
    expiresAt: world.clock.now() + visibleMs,
    stopped: previous?.stopped ?? false,
  }
  room.drafts.set(key, draft)
  world.feed.publish({ type: "draft", botId: bot.id, chatId: room.chat.id, draft })
  return true
}
