// The way out to the page: an outbox row -> the message that the chat shows. Both are in one store, so a send is one
// write, and one that a crash has cut is made again: the message is there once.
import type { ChannelSender, Reply, ReplyMedia, SendOutcome } from "../../delivery/contract.ts"
import { AppError } from "../../kernel/index.ts"
import type { Route } from "../../sessions/index.ts"
import type { NewOutbox, OutboxRow, Store } from "../../store/index.ts"
import { type WebPayload, webAccount, webChannel } from "./contract.ts"
import type { WebFiles } from "./files.ts"
import { routeOf } from "./place.ts"
import { addMessage, asJson, changeMessage, findMessage, runOfJob } from "./store.ts"

export type RowKind = "text" | "file" | "edit" | "delete" | "react"

export interface SenderOptions {
  store: Store
  files: WebFiles
  isEnabled: () => boolean
  /** The conversation that a person or program names. */
  resolve: (name: string) => Route
  /** A file that a person or program names. */
  takeMedia: NonNullable<ChannelSender["takeMedia"]>
}

const offDelayMs = 60_000
const laterMs = 2_000
/** Of a file where the disk is broken: its chat goes on without it. */
const maxTries = 3
const maxEmoji = 32

export function createWebSender(options: SenderOptions): ChannelSender {
  const { store, isEnabled } = options
  return {
    channel: webChannel,
    isPage: true,
    plan: planReply,
    takeMedia: options.takeMedia,
    planChange(route, change) {
      const { messageId } = change
      if (change.action === "delete") return rowOf(route, "delete", { messageId })
      if (change.action === "react") return reactRow(route, messageId, change.emoji)
      if (findMessage(store, route.chatId, messageId)?.side !== "out")
        throw new AppError("not-found", "The agent has not sent a message of this id to this chat")
      return editRow(route, { messageId, text: change.text })
    },
    isAnswer: ({ kind }) => kind === "text" || kind === "file",
    isRepeatable: () => true,
    async send(row, _signal, begin) {
      if (!isEnabled())
        return { kind: "retry", delayMs: offDelayMs, error: "the page's chat is switched off (channels.web.enabled)" }
      begin()
      return await perform(options, row)
    },
    resolveTarget(target, account = webAccount) {
      if (account !== webAccount) {
        throw new AppError("target-invalid", `The page has no account ${JSON.stringify(account)}`)
      }
      return options.resolve(target)
    },
  }
}

/** One message, however long: text, and below it its files and buttons. */
export function planReply(route: Route, reply: Reply): NewOutbox[] {
  const text = reply.text.trim()
  const thinking = reply.reasoning?.trim() ?? ""
  const { media, buttons, replyTo } = reply
  if (text === "" && thinking === "" && media.length === 0) return []
  const payload: WebPayload = {
    text,
    files: media,
    ...(thinking === "" ? {} : { thinking }),
    ...(buttons === undefined ? {} : { buttons }),
    ...(replyTo === undefined ? {} : { replyTo }),
  }
  return [rowOf(route, media.length > 0 ? "file" : "text", payload)]
}

export function editRow(route: Route, edit: Extract<WebPayload, { messageId: string; text: string }>): NewOutbox {
  if (edit.text.trim() === "") throw new AppError("bad-request", "The text is empty")
  return rowOf(route, "edit", edit)
}

export function reactRow(route: Route, messageId: string, emoji: string): NewOutbox {
  const wanted = emoji.trim()
  if (wanted.length > maxEmoji || /[\p{L}\p{N}\s<>]/u.test(wanted.replace(/[#*\d]\ufe0f?\u20e3/gu, "")))
    throw new AppError("bad-request", "A reaction is one emoji, such as 👍")
  return rowOf(route, "react", { messageId, emoji: wanted === "" ? null : wanted })
}

export function rowOf(route: Route, kind: RowKind, payload: WebPayload): NewOutbox {
  const { account, chatId } = route
  // Reactions are decoration and wait for nothing.
  const laneKey = kind === "react" ? `${webChannel}:${chatId}:react` : `${webChannel}:${chatId}`
  return {
    laneKey,
    channel: webChannel,
    account,
    chatId,
    route: asJson({ ...routeOf(chatId), ...route }),
    kind,
    payload: asJson(payload),
  }
}

/** Why they have to wait, where they may be had later. */
async function keepFiles(files: WebFiles, row: OutboxRow, media: readonly ReplyMedia[]) {
  const mayWait = row.attempts < maxTries
  const kept = media.map((file, index) => files.keep(file, `out-${row.id}-${index}`, mayWait))
  const ends = await Promise.allSettled(kept)
  const failed = ends.find((end) => end.status === "rejected")
  if (failed && !(failed.reason instanceof AppError)) throw failed.reason
  return failed ? (failed.reason as AppError) : await Promise.all(kept)
}

async function perform({ store, files }: SenderOptions, row: OutboxRow): Promise<SendOutcome> {
  const payload = JSON.parse(row.payload) as WebPayload
  const { chat_id: chat, origin, trusted } = row
  if ("messageId" in payload) {
    const { messageId } = payload
    const isDone = await store.write(async (write) => {
      if ("emoji" in payload) return changeMessage(write, chat, messageId, { kind: "react", emoji: payload.emoji })
      if (!("text" in payload)) return changeMessage(write, chat, messageId, { kind: "delete" })
      const { text, buttons } = payload
      const edit = { kind: "edit" as const, text, origin, trusted, ...(buttons ? { buttons } : {}) }
      return changeMessage(write, chat, messageId, edit)
    })
    // Another copy of the same deletion finds nothing, and that is what was wanted.
    if (isDone || row.kind === "delete")
      return { kind: "sent", ...(row.kind === "edit" ? { remoteId: messageId } : {}) }
    return { kind: "rejected", error: "there is no such message in this chat" }
  }
  const ref = String(row.id)
  const kept = await keepFiles(files, row, payload.files)
  if (kept instanceof AppError) return { kind: "retry", delayMs: laterMs, error: kept.message }
  const runId = runOfJob(store, row.job_id)
  const { text, thinking, buttons, replyTo } = payload
  const more = { ...(thinking ? { thinking } : {}), ...(buttons ? { buttons } : {}), ...(replyTo ? { replyTo } : {}) }
  await store.write(async (write) =>
    addMessage(write, { chat, ref, side: "out", runId, text, files: kept, origin, trusted, ...more }),
  )
  return { kind: "sent", remoteId: ref }
}
