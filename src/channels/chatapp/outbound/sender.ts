// The channel as the outbox sees it: replies become rows, rows are paced and sent.
import { join } from "node:path"
import type { Config } from "../../../config/index.ts"
import type { ChannelSender, SendOutcome } from "../../../delivery/contract.ts"
import { AppError, type Clock, type Redactor } from "../../../kernel/index.ts"
import type { OutboxRow, Store } from "../../../store/index.ts"
import type { Account } from "../account.ts"
import type { Accounts } from "../accounts.ts"
import type { Client } from "../client.ts"
import { type Settings, channelName, mainAccount } from "../settings.ts"
import type { ChatMoves } from "../moves/moves.ts"
import { ackKey, ackOf, takeAckBack } from "./ack.ts"
import { sendAction } from "./action.ts"
import { keepLongValues } from "./buttons.ts"
import { DecorationPlaces, isDecoration, judgeDecoration } from "./decoration.ts"
import type { DraftCalls } from "./draft.ts"
import { isAction } from "./payload.ts"
import { planChange } from "./plan-change.ts"
import type { Renderer } from "./render.ts"
import { messageCount, sendRow } from "./send.ts"
import { type TakeOptions, takeMedia } from "../../shared/media/take.ts"
import { isOfTool } from "../../shared/tool/sends.ts"
import { resolveTarget } from "./target.ts"

export interface SenderOptions {
  store: Store
  config: () => Config
  settings: Settings
  accounts: Accounts
  /** Reactions on their way, by account and chat. */
  acks: DraftCalls
  plan: ChannelSender["plan"]
  render: Renderer
  stateFolder: string
  redactor: Redactor
  clock: Clock
  moves: ChatMoves
  /** For tests, whose servers are on this machine. */
  fetching?: TakeOptions["fetching"]
}

/** The platform has said that the chat has another id now. */
function movedTo(outcome: SendOutcome): string | undefined {
  if (outcome.kind !== "replace") return undefined
  const { movedTo: newId } = outcome.payload as { movedTo?: string }
  return newId
}

/** While an account has no token its replies wait. */
const noTokenDelayMs = 60_000

/** A draft that is on its way should be there before its message, or it would stand below it; then it is cut. */
const draftGraceMs = 250

/** The outbox may begin before the channel has been started. */
const startWaitMs = 5_000

export function createSender(options: SenderOptions): ChannelSender {
  const { settings, plan, accounts } = options
  const decoration = new DecorationPlaces(options)
  return {
    channel: channelName,
    plan,
    earlyReplies(route) {
      const { blockStreaming, blockStreamingCoalesce: parts, textChunkLimit } = settings.account(route.account)
      if (!blockStreaming) return undefined
      const maxChars = Math.min(parts.maxChars, textChunkLimit)
      return { minChars: Math.min(parts.minChars, maxChars), maxChars, idleMs: parts.idleMs }
    },
    takeMedia(route, source, signal) {
      const { mediaMaxMb: maxMb } = settings.account(route.account)
      return takeMedia({
        source,
        mediaRoot: join(options.stateFolder, "media"),
        maxMb,
        signal,
        store: options.store,
        fetching: options.fetching,
      })
    },
    planChange: (route, change) => planChange({ ...options, settings: settings.account(route.account) }, route, change),
    pace(row) {
      const account = accounts.get(row.account)
      if (!account?.client) return { kind: "go" }
      if (isDecoration(row)) return decoration.take(row)
      return account.pacer.take({ id: row.id, chatId: row.chat_id, messages: messageCount(row) })
    },
    isAnswer({ kind, payload }) {
      const said = JSON.parse(payload) as { text?: string; caption?: unknown }
      return !isAction(kind) && (said.text !== undefined || said.caption !== undefined)
    },
    wordsOf({ kind, payload }) {
      if (isAction(kind)) return undefined
      const said = JSON.parse(payload) as { plain?: string; caption?: { plain: string } }
      return said.plain ?? said.caption?.plain ?? ""
    },
    afterReply(input, earlier) {
      const config = options.config()
      if (!config.messages.removeAckAfterReply || !input.route) return []
      const ack = ackOf(config, settings.account(input.route.account), input)
      return ack ? takeAckBack(ack, earlier) : []
    },
    isRepeatable: ({ kind }) => isAction(kind),
    async send(row, signal, begin) {
      await accounts.settled(startWaitMs, signal)
      const account = accounts.get(row.account)
      if (!account?.client) {
        // The place that it was given while the account ran is for others now.
        decoration.ended(row)
        return { kind: "retry", delayMs: noTokenDelayMs, error: `account ${row.account} is not running` }
      }
      const ended = account.beginSend()
      try {
        const outcome = isDecoration(row)
          ? await decorate(account, account.client, row, { signal, begin, decoration, ...options })
          : await sendFrom(account, account.client, row, { signal, begin }, options)
        return "error" in outcome ? { ...outcome, error: options.redactor.redact(outcome.error) } : outcome
      } finally {
        account.pacer.ended(row.id)
        decoration.ended(row)
        ended()
      }
    },
    resolveTarget(target, account) {
      const configured = accounts.configured()
      if (account === undefined || configured.includes(account))
        return resolveTarget(target, account ?? mainAccount(configured))
      const hint = `Accounts: ${configured.join(", ")}`
      throw new AppError("target-invalid", `There is no account ${JSON.stringify(account)}`, { hint })
    },
    hasAccount: (account) => accounts.configured().includes(account),
  }
}

interface Decorating {
  decoration: DecorationPlaces
  signal: AbortSignal
  begin: () => void
}

/** A reaction comes after the ack of its chat that is on its way; what does not work is given up. */
async function decorate(
  account: Account,
  client: Client,
  row: OutboxRow,
  { acks, settings, decoration, signal, begin }: SenderOptions & Decorating,
): Promise<SendOutcome> {
  await acks.idle(ackKey(row.account, row.chat_id))
  const outcome = await sendAction(row, "react", {
    client,
    settings: settings.account(row.account),
    keepLongValues: async () => undefined,
    isReply: () => false,
    begin,
    onFlood: (retryAfterMs) => decoration.pause(row.account, retryAfterMs),
    signal,
  })
  const judged = judgeDecoration(outcome, row)
  if (judged.kind === "dropped") account.noteDropped()
  return judged
}

async function sendFrom(
  account: Account,
  client: Client,
  row: OutboxRow,
  { signal, begin }: { signal: AbortSignal; begin: () => void },
  { settings, stateFolder, store, moves }: SenderOptions,
): Promise<SendOutcome> {
  await account.drafts.finish(row.chat_id, draftGraceMs)
  const outcome = await sendRow(row, {
    client,
    settings: settings.account(row.account),
    mediaRoot: join(stateFolder, "media"),
    keepLongValues: (buttons) => keepLongValues(store, buttons, row),
    isReply: (sent) => sent.job_id !== null && !isOfTool(store, sent),
    begin,
    onFlood: (retryAfterMs) => account.pacer.refused(row.id, retryAfterMs),
    signal,
  })
  if (outcome.kind === "sent") account.noteSent()
  const newId = movedTo(outcome)
  if (newId !== undefined && newId !== row.chat_id) await moves.learn({ oldId: row.chat_id, newId }, row.account)
  return outcome
}
