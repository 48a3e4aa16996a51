// Starts an emulator of the chat platform: a strict Bot API server with people to act as. The only door of this folder.
import { randomBytes } from "node:crypto"
import type { UserFromGetMe } from "grammy/types"
import { BotEndpoint } from "./bot-endpoint.ts"
import { Clock } from "./clock.ts"
import { CallLog } from "./control/call-log.ts"
import { Control } from "./control/control.ts"
import { Faults } from "./control/faults.ts"
import { ControlEndpoint } from "./control/http.ts"
import { Dispatcher } from "./dispatcher.ts"
import type { EmulatorOptions } from "./options.ts"
import { Random } from "./random.ts"
import { EmulatorServer } from "./server.ts"
import { createBot, type NewBot } from "./world/create-bot.ts"
import { World } from "./world/world.ts"

export type { CallRecord } from "./control/call-record.ts"
export type { BotAccount, CallWait, Control, MessageWait } from "./control/control.ts"
export { ControlError } from "./control/control-error.ts"
export type { Fault, FaultKind } from "./control/faults.ts"
export type { ParsedRequests as ControlRequests } from "./control/requests.ts"
export type { WaitOptions } from "./control/waiting.ts"
export type { Draft, EmulatorEvent, NumberedEvent } from "./feed.ts"
export type { FloodLimits, Rate } from "./flood.ts"
export type { EmulatorOptions } from "./options.ts"

export interface Emulator {
  /** The API root for bots: http://127.0.0.1:<port>, without a slash at the end. */
  url: string
  port: number
  /** Token of the first bot. */
  token: string
  bot: UserFromGetMe
  /** Secret of the control API over HTTP and of the chat page. */
  controlToken: string
  /** Address of the chat page; the secret stands in the fragment, which never leaves the browser. */
  pageUrl: string
  control: Control
  stop(): Promise<void>
}

export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const clock = new Clock(options.clock ?? Date)
  const random = new Random(options.seed ?? randomBytes(4).readUInt32LE())
  const world = new World({ clock, random, options })
  const log = new CallLog({ feed: world.feed, now: () => clock.now() })
  const faults = new Faults()
  const dispatcher = new Dispatcher({ world, log })
  const addBot = (settings: NewBot) =>
    createBot(world, settings, (bot, call) => {
      void dispatcher.runDetached(bot, call)
    })
  const restartServer = (downMs: number) => server.restart(downMs)
  const control = new Control({ world, log, faults, createBot: addBot, restartServer })
  const controlToken = options.controlToken ?? randomBytes(24).toString("base64url")
  const host = options.host ?? "127.0.0.1"
  const server = new EmulatorServer({
    host,
    port: options.port ?? 0,
    bots: new BotEndpoint({ world, dispatcher, log, faults }),
    control: new ControlEndpoint({ control, token: controlToken }),
  })
  const { token, user } = addBot(options.token === undefined ? {} : { token: options.token })
  await server.listen()
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`
  return {
    url,
    port: server.port,
    token,
    bot: user,
    controlToken,
    pageUrl: `${url}/#${controlToken}`,
    control,
    stop: async () => {
      for (const bot of world.bots.values()) bot.webhook.stop()
      clock.stop()
      await server.stop()
      await world.localFolder.stop()
    },
  }
}
