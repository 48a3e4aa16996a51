// A channel for tests: one row a paragraph or file, every call recorded and answered as the test says.
import type { TestContext } from "node:test"
import { endAll, endWith } from "../../test/support/ends.ts"
import { silentLog, testStore, type TestStoreOptions } from "../../test/support/store.ts"
import { AppError, createBackground, noCrash, systemClock, systemIds } from "../kernel/index.ts"
import type { Route } from "../sessions/route.ts"
import type { KeptWrites, NewOutbox, OutboxRow, Store } from "../store/index.ts"
import type { ChannelSender, Reply, SendOutcome } from "./contract.ts"
import type { FlightLog } from "./flight-log.ts"
import { OutboxWorker, type OutboxWorkerOptions } from "./worker.ts"

export interface RecordingSender extends ChannelSender {
  /** `chat: text` of every call, in the order in which they began. */
  calls: string[]
  /** Called with every planned reply. */
  planned: { route: Route; reply: Reply }[]
}

export type Respond = (row: OutboxRow, signal: AbortSignal) => SendOutcome | Promise<SendOutcome>

export function recordingSender(respond: Respond = () => ({ kind: "sent" }), channel = "test"): RecordingSender {
  const calls: string[] = []
  const planned: RecordingSender["planned"] = []
  return {
    channel,
    calls,
    planned,
    plan(route, reply) {
      planned.push({ route, reply })
      const media = reply.media.map((file) => file.path)
      return [...reply.text.split("\n\n"), ...media].filter(Boolean).map((text) => outboxRow(text, route))
    },
    async send(row, signal, begin) {
      begin()
      calls.push(`${row.chat_id}: ${textOf(row)}`)
      return await respond(row, signal)
    },
    resolveTarget(target, account = "default") {
      if (!/^-?\d+$/.test(target)) throw new AppError("target-invalid", `${target} is no chat`)
      return { channel, account, chatId: target, chatKind: "private" }
    },
  }
}

export const routeTo = (chatId: string, more: Partial<Route> = {}): Route => ({
  channel: "test",
  account: "default",
  chatId,
  chatKind: "private",
  ...more,
})

export function outboxRow(text: string, route: Route): NewOutbox {
  const { channel, account, chatId } = route
  const laneKey = `${channel}:${account}:${chatId}`
  return { laneKey, channel, account, chatId, route: { ...route }, kind: "text", payload: { text } }
}

export const textOf = (row: Pick<OutboxRow, "payload">) => (JSON.parse(row.payload) as { text: string }).text

export interface TestOutboxOptions extends TestStoreOptions {
  sender: RecordingSender
  /** That of an earlier worker in the same process; default: one of its own. */
  store?: Store
  onUncertain?: OutboxWorkerOptions["onUncertain"]
  canShowButtons?: OutboxWorkerOptions["canShowButtons"]
  flights?: FlightLog
  kept?: KeptWrites
  tellLost?: OutboxWorkerOptions["tellLost"]
}

/** A worker at work over a store of its own, or over one that an earlier worker left. */
export async function startOutbox(context: TestContext, options: TestOutboxOptions) {
  let stop = async (): Promise<void> => undefined
  // Before the store's own: what is being sent must end while there is still a store.
  endWith(context, () => stop())
  const store = options.store ?? (await testStore(context, options))
  const background = createBackground(silentLog)
  const worker = new OutboxWorker({
    store,
    senders: () => new Map([[options.sender.channel, options.sender]]),
    clock: options.clock ?? systemClock,
    log: silentLog,
    background,
    crashPoint: options.crashPoint ?? noCrash,
    ids: systemIds,
    onUncertain: options.onUncertain ?? (() => "ask"),
    canShowButtons: options.canShowButtons ?? (() => true),
    ...(options.flights ? { flights: options.flights } : {}),
    ...(options.tellLost ? { tellLost: options.tellLost } : {}),
    ...(options.kept ? { kept: options.kept } : {}),
  })
  await worker.start()
  stop = () => endAll([() => worker.stop(0), () => background.idle()])
  const rows = () => store.handle.prepare("select * from outbox order by id").all() as unknown as OutboxRow[]
  return {
    store,
    worker,
    background,
    rows,
    /** `text state` of every row, in their order. */
    states: () => rows().map((row) => `${textOf(row)} ${row.state}`),
    put: (...messages: [chatId: string, text: string][]) =>
      store.write(async (write) => {
        for (const [chatId, text] of messages) write.addOutbox(outboxRow(text, routeTo(chatId)))
      }),
    /** Resolves when the rows are as wanted; looked at after every pass of the event loop. */
    async until(isWanted: (rows: OutboxRow[]) => boolean): Promise<void> {
      const late = AbortSignal.timeout(60_000)
      while (!isWanted(rows())) {
        late.throwIfAborted()
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

export const isSettled = (rows: OutboxRow[]) => rows.every((row) => row.state !== "new" && row.state !== "sending")
