// What the two tools do: input -> reach -> gate -> outbox rows -> wait for what came of them. Everything goes through
// the outbox, so it keeps its place in the chat and survives a crash.
import { createHash } from "node:crypto"
import type { Gated, ToolContext, ToolResult } from "../../../agent/tool.ts"
import type { Reply, ReplyButton, ReplyMedia } from "../../../delivery/contract.ts"
import { takeTags } from "../../../delivery/tags.ts"
import { AppError, type JsonObject } from "../../../kernel/index.ts"
import type { Route } from "../../../sessions/route.ts"
import type { NewOutbox, OutboxRow, Store } from "../../../store/index.ts"
import { addressOf } from "../outbound/address.ts"
import type { ActionKind } from "../outbound/payload.ts"
import { knowsChat } from "../known.ts"
import { buttonsRefused } from "../outbound/buttons.ts"
import { reactRow } from "../outbound/decoration.ts"
import { lacksFile } from "../outbound/send.ts"
import { planEdit, planReply, planSticker } from "../outbound/plan.ts"
import { emojiOf } from "../outbound/plan-change.ts"
import type { Renderer } from "../outbound/render.ts"
import { resolveTarget } from "../outbound/target.ts"
import type { AccountSettings, Settings } from "../settings.ts"
import type { Stickers } from "../stickers/index.ts"
import {
  type Deed,
  type EditInput,
  type MessageInput,
  type Place,
  type ReactInput,
  type SendInput,
  type StickerInput,
  describeDeed,
  gateOf,
} from "../../shared/tool/deed.ts"
import { type Gate, shutBy } from "./gates.ts"
import { type Reach, isOwners, isOwnersTurn, reachOf } from "../../shared/tool/reach.ts"
import { type SendKey, addRows, earlierSend, ownMessage } from "../../shared/tool/sends.ts"
import { type TakeOptions, isAddress, takeMedia } from "../../shared/media/take.ts"

export interface OperationOptions {
  store: Store
  settings: Settings
  render: Renderer
  stickers: Stickers
  mainAccount: () => string
  mediaRoot: string
  /** The chat that an `@name` means. Throws `target-invalid` when it means nobody who can be written to. */
  findTarget: (route: Route, signal: AbortSignal) => Promise<Route>
  waitFor: (ids: readonly number[], limits: { timeoutMs: number; signal: AbortSignal }) => Promise<OutboxRow[]>
  /** For tests, whose servers are on this machine. */
  fetching?: TakeOptions["fetching"]
}

/** A person or a model waits; what is not sent by then is sent later. */
const waitMs = 20_000

export class Operations {
  readonly #options: OperationOptions

  constructor(options: OperationOptions) {
    this.#options = options
  }

  /** What the turn may not do by itself; undefined for all else. Throws for chats that nobody may reach. */
  async gate(deed: Deed, context: ToolContext): Promise<Gated | undefined> {
    if (context.trusted && !context.tainted) return undefined
    const { route } = await this.#reach(deed.input, { ...context, approved: true }, context.trusted)
    return gateOf(this.#options.store, deed, route, context)
  }

  /** Throws for chats that nobody may reach. */
  async describe(deed: Deed, context: ToolContext) {
    const { route } = await this.#reach(deed.input, { ...context, approved: true }, context.trusted)
    return { actions: [deed.kind], sites: [], ...describeDeed(deed, route) }
  }

  async do(deed: Deed, context: ToolContext): Promise<ToolResult> {
    const gated = context.approved ? undefined : await this.gate(deed, context)
    if (gated) throw new AppError("forbidden", gated.reason)
    switch (deed.kind) {
      case "send":
        return await this.#send(deed.input, context)
      case "sticker":
        return await this.#sticker(deed.input, context)
      case "edit":
        return await this.#edit(deed.input, context)
      case "delete":
        return await this.#remove(deed.input, context)
      case "react":
        return await this.#react(deed.input, context)
    }
  }

  async #send(input: SendInput, context: ToolContext): Promise<ToolResult> {
    const { route, isOwn } = await this.#reach(input, context)
    const settings = this.#gate(route, "sendMessage")
    if (input.text.trim() === "" && input.media === undefined)
      throw new AppError("bad-request", "There is nothing to send")
    const buttons = buttonsFor(route, settings, input.buttons)
    const key = { runId: context.runId, digest: digestOf(route, input) }
    const earlier = earlierSend(this.#options.store, key)
    if (earlier) return await this.#outcome(earlier, route, context)
    const media = input.media === undefined ? [] : [await this.#media(input.media, settings.mediaMaxMb, context)]
    const reply: Reply = { ...takeTags(input.text, isOwn ? context.route?.messageId : undefined), media }
    if (input.replyTo !== undefined) reply.replyTo = input.replyTo
    if (input.quote !== undefined) reply.quote = input.quote
    if (input.asVoice) reply.asVoice = true
    if (input.silent) reply.silent = true
    if (buttons.length > 0) reply.buttons = buttons
    if (context.tainted) reply.noPreview = true
    // Whoever names the message to refer to wants the reference, whatever holds for replies.
    const wanted = settings.replyToMode === "off" ? { ...settings, replyToMode: "first" as const } : settings
    return await this.#put(planReply(wanted, this.#options.render, route, reply), route, context, { key })
  }

  /** A sticker of its own has no words: it is no answer, so the turn's reply is sent as well. */
  async #sticker(input: StickerInput, context: ToolContext): Promise<ToolResult> {
    const { route } = await this.#reach(input, context)
    const settings = this.#gate(route, "sticker")
    const key = { runId: context.runId, digest: digestOf(route, { text: "", ...input }) }
    const earlier = earlierSend(this.#options.store, key)
    if (earlier) return await this.#outcome(earlier, route, context)
    const { fileId, replyTo, silent } = input
    return await this.#put([planSticker(settings, route, { fileId, replyTo, silent })], route, context, { key })
  }

  /** Of the stickers that people have sent to this turn's bot: whoever drew one has had a hand in its description. */
  async searchStickers({ query, limit }: { query: string; limit: number }, context: ToolContext): Promise<ToolResult> {
    const { stickers, mainAccount } = this.#options
    const account = context.route?.account ?? mainAccount()
    this.#gate({ account }, "sticker")
    const found = await stickers.search(account, query, limit)
    const shown = found.map(({ fileId, emoji, description, setName }) => ({ fileId, emoji, description, setName }))
    const answer = JSON.stringify({ ok: true, count: shown.length, stickers: shown })
    return shown.length > 0 ? { content: [], foreign: answer } : { content: [{ type: "text", text: answer }] }
  }

  async #edit(input: EditInput, context: ToolContext): Promise<ToolResult> {
    const { route } = await this.#reach(input, context)
    const account = this.#gate(route, "editMessage")
    const settings = context.tainted ? { ...account, linkPreview: false } : account
    const own = ownMessage(this.#options.store, route, input.messageId)
    if (own === undefined) throw new AppError("not-found", "The bot has not sent a message of this id to this chat")
    // Not said: the keyboard stays. Said and empty: it goes.
    const buttons = input.buttons
      ? buttonsFor(route, settings, input.buttons)
      : (JSON.parse(own) as { buttons?: ReplyButton[][] }).buttons
    const { messageId, text } = input
    const edit = buttons ? { messageId, text, buttons } : { messageId, text }
    return await this.#put([planEdit(settings, this.#options.render, route, edit)], route, context)
  }

  async #remove(input: MessageInput, context: ToolContext): Promise<ToolResult> {
    const { route } = await this.#reach(input, context)
    this.#gate(route, "deleteMessage")
    if (!isOwners(context) && ownMessage(this.#options.store, route, input.messageId) === undefined) {
      throw new AppError("forbidden", "Only an owner's turn may delete messages that the bot has not sent itself")
    }
    const row = { ...addressOf(route), kind: "delete" satisfies ActionKind, payload: { messageId: input.messageId } }
    return await this.#put([row], route, context, { did: { deleted: true } })
  }

  async #react(input: ReactInput, context: ToolContext): Promise<ToolResult> {
    const { route } = await this.#reach(input, context)
    this.#gate(route, "reactions")
    const emoji = emojiOf(input.remove ? "" : input.emoji)
    const did = emoji === null ? { removed: true } : { added: emoji }
    return await this.#put([reactRow(route, { messageId: input.messageId, emoji })], route, context, { did })
  }

  /** Whether the bot knows a chat is told only to turns that may hear it. */
  async #reach({ to, threadId }: Place, context: ToolContext, looks = true): Promise<Reach> {
    const { settings, mainAccount, findTarget } = this.#options
    const account = context.route?.account ?? mainAccount()
    const given = to === undefined || to.trim() === "" ? undefined : resolveTarget(to, account)
    const isFound = given?.chatId.startsWith("@") === true && looks && (context.approved || isOwnersTurn(context))
    const named = isFound ? await findTarget(given, context.signal) : given
    const target = named ?? (threadId === undefined ? undefined : (context.route ?? undefined))
    const reach = reachOf(
      target && threadId !== undefined ? { ...target, threadId } : target,
      context,
      (route) => !looks || this.#knows(route, settings) || (isFound && this.#knows(given, settings)),
    )
    // The message that the turn answers is not what a message of its own refers to.
    const { messageId: _answered, ...route } = reach.route
    return { ...reach, route }
  }

  #knows(route: Route, settings: Settings): boolean {
    return knowsChat(this.#options.store, settings.account(route.account), route)
  }

  #gate({ account }: Pick<Route, "account">, gate: Gate) {
    const settings = this.#options.settings.account(account)
    const key = shutBy(settings, gate)
    if (key !== undefined) throw new AppError("forbidden", `This is switched off (${key})`)
    return settings
  }

  async #media(source: string, maxMb: number, context: ToolContext): Promise<ReplyMedia> {
    const { mediaRoot, store, fetching } = this.#options
    // Files of the machine are the owner's; whoever else may command the agent has what it makes for him.
    const { trusted, origin, approved, made } = context
    const isAllowed = trusted && (origin === "owner" || approved || made?.(source) === true)
    if (!isAddress(source) && !isAllowed)
      throw new AppError("media-refused", "This turn may not send files of this machine")
    return await takeMedia({ source, mediaRoot, maxMb, signal: context.signal, store, fetching })
  }

  /** `did`: what the answer says besides, once it is done. */
  async #put(
    rows: NewOutbox[],
    route: Route,
    context: ToolContext,
    { key, did }: { key?: SendKey; did?: JsonObject } = {},
  ): Promise<ToolResult> {
    if (rows.length === 0) throw new AppError("bad-request", "There is nothing to send: the text shows nothing")
    const ids = await addRows(this.#options.store, key, context.runId, rows)
    return await this.#outcome(ids, route, context, did)
  }

  async #outcome(
    ids: readonly number[],
    route: Route,
    { signal }: ToolContext,
    did: JsonObject = {},
  ): Promise<ToolResult> {
    const rows = await this.#options.waitFor(ids, { timeoutMs: waitMs, signal })
    const trouble = rows.find((row) => ["dead", "dropped", "uncertain"].includes(row.state))
    if (trouble) {
      const what =
        trouble.state !== "uncertain" ? "It was not done" : "It may or may not have arrived: do not repeat it"
      return { content: [{ type: "text", text: `${what}. ${trouble.error ?? ""}`.trim() }], isError: true }
    }
    if (rows.some(lacksFile)) {
      const text = "The words were sent, the file was not: below them it says why."
      return { content: [{ type: "text", text }], isError: true }
    }
    const messageId = rows.findLast((row) => row.remote_id !== null)?.remote_id
    const isDone = rows.every((row) => row.state === "sent")
    const answer = {
      ok: true,
      chatId: route.chatId,
      ...(messageId ? { messageId } : {}),
      ...(isDone ? did : { queued: true }),
    }
    return { content: [{ type: "text", text: JSON.stringify(answer) }] }
  }
}

/** Rows without buttons are none. Throws where the chat may have no buttons. */
function buttonsFor(route: Route, settings: AccountSettings, given: ReplyButton[][] = []): ReplyButton[][] {
  const buttons = given.filter((row) => row.length > 0)
  const refused = buttons.length > 0 ? buttonsRefused(settings, route.chatKind) : undefined
  if (refused !== undefined) throw new AppError("forbidden", `The message cannot be sent: ${refused}`)
  return buttons
}

function digestOf(route: Route, input: SendInput & { fileId?: string }): string {
  const { to: _to, threadId: _threadId, ...what } = input
  const parts = [route.account, route.chatId, route.threadId ?? "", Object.entries(what).toSorted()]
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64url")
}
