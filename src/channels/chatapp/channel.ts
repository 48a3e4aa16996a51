// The chat channel: accounts for intake, the sender for the outbox, status and typing. Composition only.
import { join } from "node:path"
import type { Tool } from "../../agent/tool.ts"
import type { TurnInput, TurnObserver } from "../../agent/turn-input.ts"
import { type Config, defaultAccountId } from "../../config/index.ts"
import type { ChannelSender } from "../../delivery/contract.ts"
import {
  type Background,
  type Clock,
  type CrashPoint,
  type Ids,
  type Log,
  type Redactor,
  runWithTimeout,
} from "../../kernel/index.ts"
import type { Route } from "../../sessions/route.ts"
import type { NewOutbox, Store, Write } from "../../store/index.ts"
import type { Channel, ChannelAccountStatus } from "../contract.ts"
import type { Pairing } from "../pairing.ts"
import { Account } from "./account.ts"
import { performEffect } from "./effects.ts"
import { Intake } from "./inbound/intake.ts"
import { approvedText, pairingText } from "./inbound/pairing-reply.ts"
import { createPreparation } from "./inbound/preparation.ts"
import { isAction } from "./outbound/action.ts"
import { keepLongValues } from "./outbound/buttons.ts"
import { startDraft, wantsDraft } from "./outbound/draft.ts"
import { planReply } from "./outbound/plan.ts"
import { type Renderer, createRenderer } from "./outbound/render.ts"
import { messageCount, sendRow } from "./outbound/send.ts"
import { resolveTarget } from "./outbound/target.ts"
import { startTyping } from "./outbound/typing.ts"
import type { PollTiming } from "./polling.ts"
import { probe } from "./probe.ts"
import { type Settings, channelName, createSettings } from "./settings.ts"
import { createChatappTool } from "./tool/chatapp.ts"
import { createMessageTool } from "./tool/message.ts"
import { type OperationOptions, Operations } from "./tool/operations.ts"

export interface ChatappOptions {
  store: Store
  /** The live configuration: looked at for every batch and every send; token and apiRoot only at `start`. */
  config: () => Config
  defaultAgentId: () => string
  pairing: Pairing
  clock: Clock
  ids: Ids
  log: Log
  redactor: Redactor
  background: Background
  crashPoint: CrashPoint
  /** Files to send lie in its `media` folder; a relative `tokenFile` is looked up in it. */
  stateFolder: string
  environment: { chatappBotToken?: string | undefined }
  rememberRoute: (write: Write, sessionKey: string, agentId: string, route: Route) => void
  /** The outbox worker's: what came of rows that a tool has written. */
  waitForDeliveries: OperationOptions["waitFor"]
  /** For tests, whose servers are on this machine. */
  fetching?: OperationOptions["fetching"]
  /** For tests that cannot wait as long as the platform wants. */
  pollTiming?: Partial<PollTiming>
}

/** While an account has no token its replies wait. */
const noTokenDelayMs = 60_000

/** The outbox may begin before the channel has been started. */
const startWaitMs = 5_000

export function createChatappChannel(options: ChatappOptions): Channel {
  const { pairing, clock, background } = options
  const settings = createSettings(options.config)
  const render = createRenderer()
  let accounts = new Map<string, Account>()
  const started = new Gate()
  const plan: ChannelSender["plan"] = (route, reply) => planReply(settings.account(route.account), render, route, reply)
  const say = (route: Route, text: string): NewOutbox[] => plan(route, { text, media: [] })
  const newAccount = (accountId: string): Account =>
    new Account({
      ...options,
      accountId,
      settings,
      environmentToken: options.environment.chatappBotToken,
      createIntake: (bot) =>
        new Intake({
          ...options,
          bot,
          settings,
          agentId: options.defaultAgentId,
          book: pairing.book(channelName, accountId),
          log: options.log.child({ part: channelName, account: accountId }),
          pairingReply: (route, senderId, code) => say(route, pairingText(senderId, code)),
          onEffect(effect) {
            const client = accounts.get(accountId)?.client
            if (client) performEffect(effect, { client, background })
          },
        }),
    })
  const tools = createTools(options, settings, render)
  pairing.attach(channelName, {
    confirm: (account, { chatId }) => say({ channel: channelName, account, chatId, chatKind: "private" }, approvedText),
  })
  return {
    name: channelName,
    sender: createSender(options, { settings, plan, started, account: (id) => accounts.get(id) }),
    async start() {
      started.close()
      await stopAll(accounts)
      for (const account of accounts.values()) account.dispose()
      accounts = new Map(accountIds(settings.accounts(), options.environment).map((id) => [id, newAccount(id)]))
      const bots = new Map<string, string>()
      for (const account of accounts.values()) {
        await account.start(bots)
        if (account.botId !== undefined) bots.set(account.botId, account.id)
      }
      started.open()
    },
    stop: () => stopAll(accounts),
    async status({ probe: wanted, signal }): Promise<ChannelAccountStatus[]> {
      const shown = accounts.size > 0 ? [...accounts.values()] : settings.accounts().map(newAccount)
      return await Promise.all(
        shown.map(async (account) => {
          const status = account.status()
          if (!wanted || !account.client) return status
          return { ...status, probe: await probe({ client: account.client, clock, signal }) }
        }),
      )
    },
    tools: () => (settings.accounts().length > 0 || options.environment.chatappBotToken ? tools : []),
    preparation: createPreparation(),
    observe: (turn) => observe(turn, { accounts: () => accounts, settings, clock, background }),
  }
}

function createTools(options: ChatappOptions, settings: Settings, render: Renderer): readonly Tool[] {
  const operations = new Operations({
    store: options.store,
    settings,
    render,
    mainAccount: () => mainAccount(settings.accounts()),
    mediaRoot: join(options.stateFolder, "media"),
    waitFor: options.waitForDeliveries,
    ...(options.fetching ? { fetching: options.fetching } : {}),
  })
  const level = () => settings.account(mainAccount(settings.accounts())).reactionLevel
  return [createMessageTool(operations, level), createChatappTool(operations)] as readonly Tool[]
}

function createSender(
  options: ChatappOptions,
  parts: {
    settings: Settings
    plan: ChannelSender["plan"]
    started: Gate
    account: (id: string) => Account | undefined
  },
): ChannelSender {
  const { settings, plan, started } = parts
  return {
    channel: channelName,
    plan,
    pace(row) {
      const account = parts.account(row.account)
      return account?.client ? account.pacer.take(row.chat_id, messageCount(row)) : { kind: "go" }
    },
    isAnswer({ kind, payload }) {
      const said = JSON.parse(payload) as { text?: string; caption?: unknown }
      return !isAction(kind) && (said.text !== undefined || said.caption !== undefined)
    },
    async send(row, signal) {
      await started.passed(startWaitMs, signal)
      const account = parts.account(row.account)
      if (!account?.client) {
        return { kind: "retry", delayMs: noTokenDelayMs, error: `account ${row.account} is not running` }
      }
      await account.drafts.idle(row.chat_id)
      const outcome = await sendRow(row, {
        client: account.client,
        settings: settings.account(row.account),
        mediaRoot: join(options.stateFolder, "media"),
        keepLongValues: (buttons) => keepLongValues(options.store, buttons),
        onFlood: (retryAfterMs) => account.pacer.refused(row.chat_id, retryAfterMs),
        signal,
      })
      if (outcome.kind === "sent") account.noteSent()
      return "error" in outcome ? { ...outcome, error: options.redactor.redact(outcome.error) } : outcome
    },
    resolveTarget: (target, account) => resolveTarget(target, account ?? mainAccount(settings.accounts())),
  }
}

/** Holds back sends while accounts are being made. */
class Gate {
  #waiting = Promise.withResolvers<void>()

  close(): void {
    this.#waiting.resolve()
    this.#waiting = Promise.withResolvers<void>()
  }

  open(): void {
    this.#waiting.resolve()
  }

  /** Resolves when it is open, at the latest after `ms` or when the signal aborts. */
  async passed(ms: number, signal: AbortSignal): Promise<void> {
    const { promise } = this.#waiting
    await runWithTimeout(ms, "the start of the channel", () => promise, signal).catch(() => undefined)
  }
}

/** The default account is also there when only the environment has a token for it. */
function accountIds(configured: readonly string[], environment: ChatappOptions["environment"]): string[] {
  const withEnvironment = environment.chatappBotToken && !configured.includes(defaultAccountId)
  return withEnvironment ? [defaultAccountId, ...configured] : [...configured]
}

function mainAccount(configured: readonly string[]): string {
  return configured.includes(defaultAccountId) ? defaultAccountId : (configured[0] ?? defaultAccountId)
}

async function stopAll(accounts: ReadonlyMap<string, Account>): Promise<void> {
  await Promise.all([...accounts.values()].map((account) => account.stop()))
}

function observe(
  { route }: TurnInput,
  parts: { accounts: () => ReadonlyMap<string, Account>; settings: Settings; clock: Clock; background: Background },
): TurnObserver {
  const account = route?.channel === channelName ? parts.accounts().get(route.account) : undefined
  if (!route || !account) return { end: () => undefined }
  const { clock, background } = parts
  const { budget, drafts: calls } = account
  const client = () => account.client
  const typing = startTyping({ client, route, budget, clock, background })
  const settings = parts.settings.account(route.account)
  if (!wantsDraft(route, settings, account.hasTopics)) return typing
  const draft = startDraft({ client, route, settings, calls, budget, clock, background })
  return {
    onDelta: draft.onDelta,
    end() {
      typing.end()
      draft.end()
    },
  }
}
