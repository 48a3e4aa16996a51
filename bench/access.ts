// Who may speak: what one decision costs, and what the chats that a gateway knows cost in memory.
import { createSettings } from "../src/channels/chatapp/settings.ts"
import { decideAccess } from "../src/channels/chatapp/inbound/access.ts"
import { createPairing } from "../src/channels/index.ts"
import { NamePins } from "../src/channels/pins.ts"
import { configSchema } from "../src/config/index.ts"
import { systemClock, systemIds } from "../src/kernel/index.ts"
import { silentLog } from "../test/support/store.ts"
import type { Figure } from "./figure.ts"
import { withStore } from "./intake.ts"
import { round } from "./statistics.ts"

const groups = 10_000
const listed = 1_000
const names = 200
const decisions = 400_000

/** Private chats and groups in turn, people who are listed, paired, named and unknown, in a large configuration. */
export async function measureAccess(): Promise<Figure[]> {
  return await withStore(async (store) => {
    const ids = Array.from({ length: listed }, (_, index) => index + 1)
    const listedNames = Array.from({ length: names }, (_, index) => `@name${index}`)
    const config = configSchema.parse({
      channels: {
        chatapp: {
          allowFrom: [...ids, ...listedNames],
          groupAllowFrom: [...ids, ...listedNames],
          groups: Object.fromEntries(
            Array.from({ length: groups }, (_, index) => [
              String(-1_000_000 - index),
              { requireMention: false, topics: { "5": { allowFrom: ids.slice(0, 20) } } },
            ]),
          ),
        },
      },
    })
    const settings = createSettings(() => config).account("default")
    const pins = new NamePins({
      store,
      channel: "chatapp",
      account: "default",
      listed: () => settings.listedNames,
      now: () => systemClock.now(),
      log: silentLog,
    })
    const book = createPairing({ store, clock: systemClock, ids: systemIds, log: silentLog }).book("chatapp", "default")
    for (let index = 0; index < names; index += 1) pins.see({ id: String(5_000 + index), username: `name${index}` })
    const context = { settings, book, pins }
    const heard = { accept: 0, pair: 0, drop: 0 }
    const decide = (count: number) => {
      for (let index = 0; index < count; index += 1) {
        const id = String(1 + (index % 6_000))
        const isGroup = index % 2 === 0
        const chat = isGroup
          ? { id: -1_000_000 - (index % groups), type: "supergroup" as const }
          : { id: Number(id), type: "private" as const }
        const topicId = isGroup && index % 4 === 0 ? "5" : undefined
        heard[decideAccess({ chat, topicId, sender: { id, username: `user${id}` } }, context).kind] += 1
      }
    }
    decide(decisions / 10)
    const cpu = process.cpuUsage()
    decide(decisions)
    const { user, system } = process.cpuUsage(cpu)
    const microseconds = (user + system) / decisions
    return [
      {
        what: `access decision, with ${groups} groups, ${listed} ids and ${names} @names listed`,
        target: "at most 5 us CPU",
        measured: `${round(microseconds, 2)} us CPU`,
        met: microseconds <= 5 && heard.accept > 0 && heard.drop > 0 && heard.pair > 0,
      },
    ]
  })
}
