// Updates of the chat platform taken in, durably: a real store, the channel's own planning, batches of 100.
// In this process, so that neither a model nor the network is part of the figure.
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Update } from "grammy/types"
import { Intake } from "../src/channels/chatapp/inbound/intake.ts"
import { Activations } from "../src/channels/activation.ts"
import { ChatMoves } from "../src/channels/chatapp/moves/moves.ts"
import { QueueChoices } from "../src/channels/queue.ts"
import { createSettings } from "../src/channels/chatapp/settings.ts"
import { createPairing } from "../src/channels/index.ts"
import { NamePins } from "../src/channels/pins.ts"
import { loadConfigOrThrow } from "../src/config/index.ts"
import { createBackground, noCrash, systemClock, systemIds } from "../src/kernel/index.ts"
import { createSessions } from "../src/sessions/index.ts"
import { type Store, openStore } from "../src/store/index.ts"
import { silentLog } from "../test/support/store.ts"
import type { Figure } from "./figure.ts"
import { round } from "./statistics.ts"

const batchSize = 100
const batches = 200

/** A real store in a folder of its own, for as long as the work takes. */
export async function withStore<T>(work: (store: Store, folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "svc-bench-intake-"))
  const store = await openStore({
    folder,
    bootId: systemIds.uuid(),
    clock: systemClock,
    ids: systemIds,
    log: silentLog,
    crashPoint: noCrash,
  })
  try {
    return await work(store, folder)
  } finally {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

export async function measureIntake(): Promise<Figure[]> {
  return await withStore(async (store, folder) => {
    const { config: base } = loadConfigOrThrow({ path: join(folder, "svc.json"), env: {} })
    const chatapp = { ...base.channels.chatapp, dmPolicy: "open" as const, allowFrom: ["*"] }
    const config = { ...base, channels: { ...base.channels, chatapp } }
    const pairing = createPairing({ store, clock: systemClock, ids: systemIds, log: silentLog })
    const sessions = createSessions({ store, ids: systemIds, config: () => config.session })
    const intake = new Intake({
      bot: { channel: "chatapp", account: "default", botId: "42" },
      store,
      settings: createSettings(() => config),
      agentId: () => "main",
      queueChoices: new QueueChoices(store),
      notice: () => [],
      book: pairing.book("chatapp", "default"),
      pins: new NamePins({
        store,
        channel: "chatapp",
        account: "default",
        listed: () => new Set(),
        now: () => systemClock.now(),
        log: silentLog,
      }),
      clock: systemClock,
      ids: systemIds,
      log: silentLog,
      rememberRoute: sessions.rememberRoute,
      pairingReply: () => [],
      onEffect: () => undefined,
      activations: new Activations(store),
      botName: () => "bench_bot",
      moves: new ChatMoves({
        store,
        config: () => config,
        renameConfig: () => ({ kind: "invalid", issues: [] }),
        background: createBackground(silentLog),
        onMoved: () => undefined,
        log: silentLog,
      }),
    })
    const take = async (from: number, count: number) => {
      for (let batch = 0; batch < count; batch += 1) {
        const first = from + batch * batchSize
        await intake.take(
          Array.from({ length: batchSize }, (_, index) => update(first + index)),
          first + batchSize,
        )
      }
    }
    await take(1, 20)
    const cpu = process.cpuUsage()
    const began = performance.now()
    await take(1_000_000, batches)
    const seconds = (performance.now() - began) / 1000
    const used = process.cpuUsage(cpu)
    const total = batches * batchSize
    const perSecond = total / seconds
    const microseconds = (used.user + used.system) / total
    return [
      {
        what: "updates taken in, durable, batches of 100",
        target: "at least 20,000/s, at most 10 us CPU each",
        measured: `${round(perSecond, 0)}/s, ${round(microseconds)} us CPU each (job, inbox row and plan included)`,
        met: perSecond >= 20_000 && microseconds <= 10,
      },
    ]
  })
}

function update(id: number): Update {
  // So many that none of them has more waiting than a queue holds, all in one session.
  const sender = 1_000 + (id % 2_000)
  return {
    update_id: id,
    message: {
      message_id: id,
      date: 1_760_000_000,
      chat: { id: sender, type: "private", first_name: "Ada" },
      from: { id: sender, is_bot: false, first_name: "Ada", username: `ada${sender}` },
      text: "How is the weather in the mountains this week?",
    },
  } as Update
}
