// The page's own chat as a channel like any other. Composition only: what comes in, what goes out, what is seen meanwhile.
import type { TurnInput } from "../../agent/turn-input.ts"
import type { Config } from "../../config/index.ts"
import type { Background, Clock, Ids, Log } from "../../kernel/index.ts"
import { mainKey } from "../../sessions/index.ts"
import type { OutboxRow, Store } from "../../store/index.ts"
import { mergeInputs } from "../shared/merge.ts"
import { takeMedia } from "../shared/media/take.ts"
import { nativeCommands } from "../commands/index.ts"
import type { Channel, ChannelAccountStatus, ChannelCommands } from "../contract.ts"
import { QueueChoices, configuredQueue } from "../queue.ts"
import {
  type WebAccepted,
  type WebClick,
  type WebConversation,
  type WebDraft,
  type WebHistory,
  type WebOverview,
  type WebSaying,
  webAccount,
  webChannel,
} from "./contract.ts"
import { isPicture } from "../shared/media/sniff.ts"
import { WebFiles, type Upload } from "./files.ts"
import { type IntakeOptions, WebIntake } from "./intake.ts"
import { WebLive } from "./live.ts"
import { type PlaceOptions, placeOf, routeOf } from "./place.ts"
import { createWebSender } from "./sender.ts"
import { type HistoryPage, messageById, readConversations, readMessages, readUnsent } from "./store.ts"
import { createWebTool } from "./tool.ts"
import { AppError } from "../../kernel/index.ts"

export interface WebOptions extends PlaceOptions, Pick<IntakeOptions, "isModel" | "lastRoute" | "rememberRoute"> {
  store: Store
  config: () => Config
  /** Absolute. */
  mediaRoot: string
  agentIds: () => string[]
  timeText: (ms: number) => string
  /** The outbox worker's. */
  waitForDeliveries: (
    ids: readonly number[],
    limits: { timeoutMs: number; signal: AbortSignal },
  ) => Promise<OutboxRow[]>
  publish: (draft: () => WebDraft) => void
  ids: Ids
  clock: Clock
  background: Background
  log: Log
}

/** What the page asks of its chat. Throws `conflict` while it is switched off. */
export interface WebChat {
  overview(limit: number): WebOverview
  history(chat: string, page: HistoryPage): WebHistory
  say(message: WebSaying): Promise<WebAccepted>
  click(click: WebClick): Promise<WebAccepted>
  /** Larger files are refused before they are read. */
  maxFileBytes(): number
  keepFile(content: Uint8Array, claimed: string | undefined): Promise<Upload>
  /** A file of a message. `isShown`: a browser may show it as the picture that it is. Throws `not-found`. */
  readFile(message: number, index: number): { name: string; mediaType: string; isShown: boolean; content: Buffer }
}

function createCommandPart(settings: () => Config["channels"]["web"], choices: QueueChoices): ChannelCommands {
  return {
    custom: () => [],
    canShowButtons: () => true,
    mayWriteConfig: () => settings().configWrites,
    maxFile: () => ({ megabytes: settings().mediaMaxMb, key: "channels.web.mediaMaxMb" }),
    sessionChanged: () => choices.refresh(),
  }
}

export function createWebChannel(options: WebOptions): { channel: Channel; chat: WebChat } {
  const { store, config, mediaRoot, ids } = options
  const log = options.log.child({ part: webChannel })
  const settings = () => config().channels.web
  const files = new WebFiles({
    ...options,
    log,
    maxMb: () => settings().mediaMaxMb,
    pruneTime: () => store.pruneTime(),
  })
  const choices = new QueueChoices(store)
  const live = new WebLive({ newStream: () => ids.uuid(), publish: options.publish })
  const intake = new WebIntake({
    ...options,
    files,
    resetWords: () => config().session.resetTriggers,
    queueOf: (key) => ({ ...configuredQueue(config(), webChannel), ...choices.of(key) }),
    now: () => nowOf(options),
  })
  const take = (source: string, signal: AbortSignal) =>
    takeMedia({ source, mediaRoot, maxMb: settings().mediaMaxMb, signal, store })
  const tool = createWebTool({ store, takeMedia: take, waitFor: options.waitForDeliveries })
  const channel: Channel = {
    name: webChannel,
    commands: createCommandPart(settings, choices),
    sender: createWebSender({
      store,
      files,
      isEnabled: () => settings().enabled,
      resolve: (name) => routeOf(targetOf(options, name)),
      takeMedia: (_route, source, signal) => take(source, signal),
    }),
    start: async () => undefined,
    apply: async () => undefined,
    async stop() {
      live.stop()
    },
    unpin: async () => [],
    status: async () => [statusOf(settings().enabled)],
    check: async () => undefined,
    findTarget: async (route) => route,
    explain: ({ chat, user = "owner" }) => ({
      channel: webChannel,
      account: webAccount,
      chat: targetOf(options, chat),
      user,
      ...(settings().enabled
        ? {
            outcome: "accept",
            rule: "signed-in",
            reason: "Whoever has signed in to the page is the owner",
            origin: "owner",
            trusted: true,
          }
        : {
            outcome: "drop",
            rule: "disabled",
            reason: "The chat of the page is switched off",
            key: "channels.web.enabled",
          }),
      steps: [],
      notes: [],
    }),
    tools: ({ route }) => (route?.channel === webChannel && settings().enabled ? [tool as never] : []),
    isStillHeard: () => settings().enabled,
    observe: (turn: TurnInput, runId, view) => live.observe(turn, runId, view),
    jobs: {},
    preparation: {
      merge: mergeInputs,
      fetch: async (input) => input,
      complete: (_write, input) => input,
    },
  }
  return { channel, chat: createChat(options, { intake, files, live, settings }) }
}

interface ChatParts {
  intake: WebIntake
  files: WebFiles
  live: WebLive
  settings: () => Config["channels"]["web"]
}

function createChat(options: WebOptions, { intake, files, live, settings }: ChatParts): WebChat {
  const { store } = options
  const checked = <Result>(work: () => Result): Result => {
    if (settings().enabled) return work()
    throw new AppError("conflict", "The chat of the page is switched off", {
      hint: "Set channels.web.enabled to true",
    })
  }
  return {
    overview: (limit) => checked(() => overview(options, files, limit)),
    history: (chat, page) =>
      checked(() => {
        const { sessionKey } = placeOf(options, chat)
        const list = readMessages(store, sessionKey, page)
        if (page.before !== undefined || page.after !== undefined) return { ...list, drafts: [], unsent: [] }
        return { ...list, drafts: live.of(sessionKey), unsent: readUnsent(store, sessionKey) }
      }),
    say: async (message) => await checked(() => intake.say(message)),
    click: async (click) => await checked(() => intake.click(click)),
    maxFileBytes: () => checked(() => files.maxBytes()),
    keepFile: async (content, claimed) => await checked(() => files.save(content, claimed)),
    readFile: (message, index) =>
      checked(() => {
        const file = messageById(store, message)?.files[index]
        if (!file || file.problem !== undefined) throw new AppError("not-found", "This message has no such file")
        const { name, mediaType } = file
        return { name, mediaType, isShown: isPicture(mediaType), content: files.read(file) }
      }),
  }
}

/** Each agent's main conversation is there, spoken in or not. */
function overview({ store, agentIds, config }: WebOptions, files: WebFiles, limit: number): WebOverview {
  const rows = readConversations(store, limit + 1)
  const known = rows.slice(0, limit)
  const agents = agentIds()
  const missing = agents
    .map((agent): WebConversation => ({
      key: mainKey(agent),
      agent,
      title: "",
      preview: "",
      lastId: 0,
      updatedAt: null,
    }))
    .filter(({ key }) => !known.some((row) => row.key === key))
  const commands = offeredCommands(config())
  return {
    agents,
    chats: [...known, ...missing],
    hasMore: rows.length > limit,
    commands,
    maxFileBytes: files.maxBytes(),
  }
}

/** In the order of the menu. A space at the end says that more may follow. */
function offeredCommands({ commands }: Config): WebOverview["commands"] {
  const isOffered = ({ isUnlisted, switchedBy, where, name }: (typeof nativeCommands)[number]) => {
    if (isUnlisted || where === "group" || (name === "bash" && !commands.bash)) return false
    return switchedBy === undefined || commands[switchedBy]
  }
  return nativeCommands.filter(isOffered).flatMap(({ name, summary, usage }) => {
    const choices = usage?.includes(" | ") ? usage.split(" | ").filter((word) => /^\w+$/.test(word)) : []
    const whole = { words: usage === undefined ? `/${name}` : `/${name} `, summary }
    return [whole, ...choices.map((word) => ({ words: `/${name} ${word}`, summary: "" }))]
  })
}

function nowOf({ clock, timeText }: Pick<WebOptions, "clock" | "timeText">): { ms: number; text: string } {
  const ms = clock.now()
  return { ms, text: timeText(ms) }
}

/** As a person or program names it. Throws `target-invalid`. */
function targetOf(options: PlaceOptions, name: string): string {
  try {
    return placeOf(options, name).sessionKey
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError("target-invalid", error.message, {
      hint: "Name main, or a conversation of the page",
      cause: error,
    })
  }
}

function statusOf(enabled: boolean): ChannelAccountStatus {
  return {
    channel: webChannel,
    account: webAccount,
    enabled,
    configured: true,
    state: enabled ? "running" : "off",
    mode: "page",
    tokenSource: "none",
    pins: [],
    counters: {},
  }
}
