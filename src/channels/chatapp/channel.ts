// The chat channel: accounts for intake, the sender for the outbox, status and typing. Composition only.
import { join } from "node:path"
import { type Config, defaultAccountId } from "../../config/index.ts"
import type { ChannelSender } from "../../delivery/contract.ts"
import { type Background, type Clock, type CrashPoint, type Ids, type Log, type Redactor } from "../../kernel/index.ts"
import type { Route } from "../../sessions/route.ts"
import type { NewOutbox, Store, Write } from "../../store/index.ts"
import type { Channel, ChannelAccountStatus } from "../contract.ts"
import type { Pairing } from "../pairing.ts"
import { NamePins } from "../pins.ts"
import { noteLists } from "../shut-out.ts"
import { Activations } from "../activation.ts"
import { QueueChoices } from "../queue.ts"
import { Account } from "./account.ts"
import { Accounts } from "./accounts.ts"
import { performEffect } from "./effects.ts"
import { createCommandPart } from "./commands/part.ts"
import { type ExplainFacts, explainAccess } from "./explain.ts"
import { isStillHeard } from "./inbound/access.ts"
import { Intake } from "./inbound/intake.ts"
import type { Effect } from "./inbound/planned.ts"
import { decisionText, pairingText } from "./inbound/pairing-reply.ts"
import { createPreparation } from "./inbound/preparation.ts"
import { DraftCalls } from "./outbound/draft.ts"
import { findNamedTarget } from "./outbound/named-target.ts"
import { ChatMoves, type RenameConfig } from "./moves/moves.ts"
import { observeTurn } from "./outbound/observe.ts"
import { planReply } from "./outbound/plan.ts"
import { type Renderer, createRenderer } from "./outbound/render.ts"
import { createSender } from "./outbound/sender.ts"
import { type DraftKey, type OpenTurn, turnOfDraft } from "./outbound/stop-turn.ts"
import type { PollTiming } from "./polling.ts"
import { probe } from "./probe.ts"
import { type DescribePicture, createInboundMedia, lateFilesJobKind } from "./media/index.ts"
import { type Settings, channelName, createSettings, mainAccount } from "./settings.ts"
import { type Stickers, createStickers } from "./stickers/index.ts"
import { offerTools } from "./tool/offer.ts"
import { type OperationOptions, Operations } from "./tool/operations.ts"
import { WebhookListeners } from "./webhook/listener.ts"

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
  /** What the gateways of one user share. */
  runtimeFolder: string
  environment: { chatappBotToken?: string | undefined }
  /** Gives entries of the configuration file another name, and makes the gateway use it. */
  renameConfig: RenameConfig
  /** What a picture shows, as a model that can see says it. */
  describePicture: DescribePicture
  rememberRoute: (write: Write, sessionKey: string, agentId: string, route: Route) => void
  /** The outbox worker's: what came of rows that a tool has written. */
  waitForDeliveries: OperationOptions["waitFor"]
  /** Whether a word names a model that may be chosen; without it none does. */
  isModel?: (name: string) => boolean
  /** The skills of the agent that answers, for the menu; read when an account starts or the configuration changes. */
  skills?: () => readonly { name: string; description: string }[]
  /** Ends a turn that somebody has watched being written; without an effect when it has ended. */
  stopTurn: (turn: OpenTurn) => Promise<void>
  /** Of the webhook's listeners, each at once. */
  maxConnections?: number
  /** For tests, whose servers are on this machine. */
  fetching?: OperationOptions["fetching"]
  /** For tests that cannot wait as long as the platform wants. */
  pollTiming?: Partial<PollTiming>
  /** Is told of every request to a webhook without its secret. */
  onRefused?: (address: string) => void
}

export function createChatappChannel(options: ChatappOptions): Channel {
  const { pairing, clock } = options
  const settings = createSettings(options.config)
  const { activations, queueChoices, refresh } = sessionSettings(options)
  const moves = createMoves(options, refresh)
  const render = createRenderer()
  const plan: ChannelSender["plan"] = (route, reply) => planReply(settings.account(route.account), render, route, reply)
  const say = (route: Route, text: string): NewOutbox[] => plan(route, { text, media: [] })
  const listeners = new WebhookListeners({ ...options, log: options.log.child({ part: channelName }) })
  const pinsOf = keepPins(options, settings)
  const newAccount = (accountId: string): Account =>
    new Account({
      ...options,
      accountId,
      settings,
      listeners,
      pins: pinsOf(accountId),
      environmentToken: options.environment.chatappBotToken,
      createIntake: (bot) =>
        new Intake({
          ...options,
          bot,
          settings,
          agentId: options.defaultAgentId,
          book: pairing.book(channelName, accountId),
          pins: pinsOf(accountId),
          activations,
          queueChoices,
          notice: say,
          moves,
          botName: () => accounts.get(accountId)?.botName,
          log: options.log.child({ part: channelName, account: accountId }),
          pairingReply: (route, senderId, code) => say(route, pairingText(senderId, code)),
          onEffect: (effect) => performFor(options, accounts.get(accountId), effect),
        }),
    })
  const accounts = new Accounts({
    settings,
    hasEnvironmentToken: options.environment.chatappBotToken !== undefined,
    create: newAccount,
    log: options.log,
  })
  const stickers = createStickers({ store: options.store })
  const media = createInboundMedia({
    ...options,
    stickers,
    settings: settings.account,
    client: (account) => accounts.byId.get(account)?.client,
  })
  const acks = new DraftCalls()
  attachPairing(pairing, accounts, say)
  return {
    name: channelName,
    sender: createSender({ ...options, settings, plan, render, accounts, acks, moves }),
    async start() {
      moves.settle()
      await accounts.start()
    },
    noteLists: () => noteChanges(options, settings),
    apply: async () => void (await Promise.all([noteChanges(options, settings), applyTo(accounts)])),
    commands: createCommandPart(settings, refresh),
    async stop() {
      media.stop()
      await accounts.stop()
    },
    unpin: (name, account) => unpin(name, account === undefined ? settings.accounts() : [account], pinsOf),
    async status(wanted) {
      const shown = accounts.byId.size > 0 ? accounts.all() : settings.accounts().map(newAccount)
      return await Promise.all(shown.map((account) => statusOf(account, settings, clock, wanted)))
    },
    check: async (signal) => void (await Promise.all(accounts.all().map((account) => account.check(signal)))),
    findTarget: createFindTarget(options, { settings, accounts, pinsOf }),
    explain: (question) => explainAccess(question, explainFacts(options, { settings, moves, activations, pinsOf })),
    tools: createTools(options, { settings, render, stickers, accounts, pinsOf }),
    jobs: { [lateFilesJobKind]: media.late },
    preparation: createPreparation({ settings: settings.account, fetchFiles: media.fetch }),
    isStillHeard: judgeAgain(pairing, { settings, moves, pinsOf }),
    observe: (turn, _runId, view) => observeTurn(turn, view, { ...options, accounts, settings, acks }),
  }
}

async function applyTo(accounts: Accounts): Promise<void> {
  await accounts.apply()
  for (const account of accounts.all()) account.refreshMenu()
}

/** The default account may be one of the environment alone. */
async function noteChanges({ store, log }: ChatappOptions, settings: Settings): Promise<void> {
  const doors = [...new Set([...settings.accounts(), defaultAccountId])].map((account) => {
    const { dmPolicy: policy, allow } = settings.account(account)
    return { channel: channelName, account, policy, allow }
  })
  const senders = await noteLists(store, doors)
  if (senders.length > 0)
    log.info({ part: channelName, senders }, "taken off the list: what waits for them is not sent")
}

function judgeAgain(
  pairing: Pairing,
  parts: { settings: Settings; moves: ChatMoves; pinsOf: (account: string) => NamePins },
): Channel["isStillHeard"] {
  const { settings, moves, pinsOf } = parts
  return (route, asker) =>
    isStillHeard(route, asker, {
      settings: moves.follow(settings.account(route.account)),
      paired: pairing.book(channelName, route.account).paired,
      namesOf: (id) => pinsOf(route.account).namesOf(id),
    })
}

function attachPairing(pairing: Pairing, accounts: Accounts, say: (route: Route, text: string) => NewOutbox[]): void {
  pairing.attach(channelName, {
    tell: (account, { chatId }, decision) =>
      say({ channel: channelName, account, chatId, chatKind: "private" }, decisionText(decision)),
    admit: (write, account, senderId, message) =>
      accounts.get(account)?.intake?.admit(write, senderId, message) ?? false,
  })
}

function performFor(options: ChatappOptions, account: Account | undefined, effect: Effect): void {
  if (!account?.client) return
  const stopTurn = (chatId: string, draftId: number) => stopTurnOf(options, { account: account.id, chatId, draftId })
  const log = options.log.child({ part: channelName, account: account.id })
  performEffect(effect, { client: account.client, background: options.background, log, stopTurn })
}

/** As messages are judged. */
function following(settings: Settings, moves: ChatMoves): Settings {
  return { ...settings, account: (id) => moves.follow(settings.account(id)) }
}

function explainFacts(
  options: ChatappOptions,
  parts: { settings: Settings; moves: ChatMoves; activations: Activations; pinsOf: (account: string) => NamePins },
): ExplainFacts {
  const { settings, moves, activations, pinsOf } = parts
  return {
    config: options.config,
    settings: following(settings, moves),
    running: {
      paired: (account) => options.pairing.book(channelName, account).paired,
      idOfName: (account, name) => pinsOf(account).idOf(name),
      activationOf: (key) => activations.of(key),
      agentId: options.defaultAgentId(),
    },
  }
}

/** What sessions say that is asked for each message. */
function sessionSettings({ store }: ChatappOptions) {
  const activations = new Activations(store)
  const queueChoices = new QueueChoices(store)
  const refresh = () => {
    activations.refresh()
    queueChoices.refresh()
  }
  return { activations, queueChoices, refresh }
}

function createMoves(options: ChatappOptions, onMoved: () => void): ChatMoves {
  const log = options.log.child({ part: channelName })
  return new ChatMoves({ ...options, onMoved, log })
}

async function statusOf(
  account: Account,
  settings: Settings,
  clock: Clock,
  { probe: wanted, signal }: Parameters<Channel["status"]>[0],
): Promise<ChannelAccountStatus> {
  const status = account.status()
  const { client, botId } = account
  if (!wanted || !client || botId === undefined) return status
  return { ...status, probe: await probe({ client, botId, settings: settings.account(account.id), clock, signal }) }
}

interface TargetParts {
  settings: Settings
  accounts: Accounts
  pinsOf: (account: string) => NamePins
}

/** People whom an account knows are those who are listed or paired; first who seems to have the name. */
function createFindTarget(options: ChatappOptions, { settings, accounts, pinsOf }: TargetParts): Channel["findTarget"] {
  const known = (account: string, name: string): string[] => {
    const pinned = pinsOf(account).idOf(name)
    const paired = options.pairing.book(channelName, account).pairedSenders()
    const called = paired.filter(({ label }) => label.toLowerCase().includes(`@${name}`))
    const all = [...called, ...paired].map(({ senderId }) => senderId)
    const ids = [...(pinned === undefined ? [] : [pinned]), ...all, ...settings.account(account).listedIds]
    return [...new Set(ids)].filter((id) => /^[1-9]\d*$/.test(id))
  }
  return (route, signal) => {
    const { account } = route
    const client = accounts.byId.get(account)?.client
    return findNamedTarget(route, { client, known: (name) => known(account, name), signal })
  }
}

async function stopTurnOf({ store, log, stopTurn }: ChatappOptions, draft: DraftKey): Promise<void> {
  const turn = turnOfDraft(store, draft)
  log.info({ ...draft, run: turn?.runId }, turn ? "stop button: turn stopped" : "stop button: the turn had ended")
  if (turn) await stopTurn(turn)
}

function createTools(
  options: ChatappOptions,
  { render, stickers, ...parts }: { render: Renderer; stickers: Stickers } & TargetParts,
): Channel["tools"] {
  const { settings } = parts
  const operations = new Operations({
    store: options.store,
    settings,
    render,
    stickers,
    findTarget: createFindTarget(options, parts),
    mainAccount: () => mainAccount(settings.accounts()),
    mediaRoot: join(options.stateFolder, "media"),
    waitFor: options.waitForDeliveries,
    ...(options.fetching ? { fetching: options.fetching } : {}),
  })
  const hasEnvironmentToken = options.environment.chatappBotToken !== undefined
  return (place) => offerTools({ operations, settings, hasEnvironmentToken }, place)
}

async function unpin(
  name: string,
  accountIds: readonly string[],
  pinsOf: (accountId: string) => NamePins,
): Promise<string[]> {
  const plain = name.trim().replace(/^@/, "").toLowerCase()
  const done: string[] = []
  for (const id of accountIds) if (await pinsOf(id).unpin(plain)) done.push(id)
  return done
}

/** One book an account, kept while accounts come and go. */
function keepPins(options: ChatappOptions, settings: Settings): (accountId: string) => NamePins {
  const { store, clock, log } = options
  const books = new Map<string, NamePins>()
  return (account) => {
    const known = books.get(account)
    if (known) return known
    const book = new NamePins({
      store,
      channel: channelName,
      account,
      listed: () => settings.account(account).listedNames,
      now: () => clock.now(),
      log: log.child({ part: channelName, account }),
    })
    books.set(account, book)
    return book
  }
}
