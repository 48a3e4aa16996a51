// Updates of the chat platform -> jobs and events in the store, planned as the channel plans them.
import { Readable } from "node:stream"
import { join } from "node:path"
import type { Update } from "grammy/types"
import type { TurnPreparation } from "../../src/agent/index.ts"
import { createPairing } from "../../src/channels/index.ts"
import { Earlier } from "../../src/channels/chatapp/inbound/earlier.ts"
import { createLookups } from "../../src/channels/chatapp/inbound/lookups.ts"
import { planUpdate } from "../../src/channels/chatapp/inbound/plan.ts"
import type { PlanContext } from "../../src/channels/chatapp/inbound/planned.ts"
import { createPreparation } from "../../src/channels/chatapp/inbound/preparation.ts"
import { createInboundMedia } from "../../src/channels/chatapp/media/index.ts"
import { MediaFolder } from "../../src/channels/chatapp/media/keep.ts"
import { createSettings } from "../../src/channels/chatapp/settings.ts"
import { createStickers } from "../../src/channels/chatapp/stickers/index.ts"
import type { Background } from "../../src/kernel/index.ts"
import type { WorldParts } from "./parts.ts"

export interface ChatIntake {
  preparation: TurnPreparation
  receive(updates: readonly Omit<Update, "update_id">[]): Promise<void>
  /** A file as if it had been downloaded before. */
  keepFile(id: string, content: Buffer): Promise<void>
}

const botId = 42
const bot = { channel: "chatapp", account: "default", botId: String(botId) }

export function createChatIntake(parts: WorldParts & { background: Background }): ChatIntake {
  const { folder, store, clock, ids, log } = parts
  const settings = createSettings(parts.config)
  const pairing = createPairing({ store, clock, ids, log })
  const earlier = new Earlier(store)
  const media = createInboundMedia({
    stateFolder: folder,
    background: parts.background,
    stickers: createStickers({ store }),
    settings: settings.account,
    client: () => undefined,
    describePicture: async () => undefined,
    store,
    clock,
    ids,
    log,
  })
  let updateId = 0
  const contextOf = (): PlanContext & { earlier: ReturnType<Earlier["beginBatch"]> } => ({
    settings: settings.account(bot.account),
    botId: bot.botId,
    botName: "molly_bot",
    agentId: "main",
    book: pairing.book(bot.channel, bot.account),
    pins: { see: () => undefined, namesOf: () => [] },
    now: clock.now(),
    ids,
    pairingReply: () => [],
    earlier: earlier.beginBatch(),
    look: createLookups({ store, bot, isModel: () => false }),
    activationOf: () => undefined,
    queueChoiceOf: () => undefined,
    onChatMoved: () => undefined,
  })
  return {
    preparation: createPreparation({ fetchFiles: media.fetch, settings: settings.account }),
    async receive(updates) {
      const context = contextOf()
      const entries = updates.map((update) => {
        updateId += 1
        const { entry } = planUpdate({ update_id: updateId, ...update } as Update, context)
        context.earlier.note(entry.jobs)
        return entry
      })
      await store.ingestBatch(entries)
    },
    async keepFile(id, content) {
      const limits = { maxBytes: content.length, claimed: undefined, signal: new AbortController().signal }
      await new MediaFolder(join(folder, "media")).save(id, Readable.from([content]), limits)
    },
  }
}
