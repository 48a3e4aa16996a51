// The bot's menu at the platform: registered when it is not what was registered last, in the background. The start never
// waits for it, and a platform that cannot be reached is asked again with patience.
import { createHash } from "node:crypto"
import { type Background, type Clock, type Log, backoffMs } from "../../../kernel/index.ts"
import type { Store } from "../../../store/index.ts"
import type { Client } from "../client.ts"
import { type CallFailure, describeFailure, isTokenRefused } from "../failure.ts"
import { type AccountSettings, channelName } from "../settings.ts"
import { type MenuEntry, type MenuSkill, type Menus, customEntries, menusOf } from "./menu.ts"

export interface RegistrationOptions {
  store: Store
  clock: Clock
  log: Log
  background: Background
  settings: () => AccountSettings
  /** The agent's skills, for the menu. */
  skills?: () => readonly MenuSkill[]
}

export interface MenuBot {
  botId: string
  client: Client
  /** Aborted when the account stops. */
  signal: AbortSignal
}

const callTimeoutMs = 15_000
const retryPolicy = { attempts: 1_000, minDelayMs: 5_000, maxDelayMs: 600_000, jitter: 0.2 }

export class MenuRegistration {
  readonly #options: RegistrationOptions
  #current: { menus: string; abort: AbortController } | undefined

  constructor(options: RegistrationOptions) {
    this.#options = options
  }

  /** Brings the platform's menu in step with the configuration; what is under way for an older one is given up. */
  update(bot: MenuBot): void {
    const { background, log, settings } = this.#options
    const wanted = settings()
    const menus = menusOf(wanted, this.#options.skills?.() ?? [])
    const text = JSON.stringify(menus)
    if (this.#current?.menus === text) return
    this.#current?.abort.abort()
    const abort = new AbortController()
    this.#current = { menus: text, abort }
    const signal = AbortSignal.any([bot.signal, abort.signal])
    for (const { command, problem } of customEntries(wanted).problems) {
      log.error({ command, problem }, "custom command skipped")
    }
    background.run("register the menu", async () => {
      try {
        for (const scope of Object.keys(menus) as (keyof Menus)[]) {
          if (!(await this.#register({ ...bot, signal }, scope, menus[scope]))) return
        }
      } catch (error) {
        // The next change of the configuration tries it again, whatever it changes.
        if (this.#current?.abort === abort) this.#current = undefined
        throw error
      }
    })
  }

  /** False when it makes no sense to go on. */
  async #register(bot: MenuBot, scope: keyof Menus, entries: readonly MenuEntry[]): Promise<boolean> {
    const { store, clock, log } = this.#options
    const key = `menu:${channelName}:${bot.botId}:${scope}`
    const hash = createHash("sha256").update(JSON.stringify(entries)).digest("base64url")
    if ((await store.meta.get(key)) === hash) return true
    // Whether a call that is given up has arrived is not known: what stood there before may stand there no more.
    await store.meta.set(key, null)
    for (let attempt = 1; !bot.signal.aborted; attempt += 1) {
      const failure = await put(bot, scope, entries)
      if (!failure) {
        await store.meta.set(key, hash)
        log.info({ scope, commands: entries.length }, entries.length === 0 ? "menu cleared" : "menu registered")
        return true
      }
      if (bot.signal.aborted) return false
      log.warn({ scope, attempt, reason: describeFailure(failure) }, "menu not registered")
      const delayMs = retryDelay(failure, attempt)
      if (delayMs === undefined) return false
      await clock.sleep(delayMs, bot.signal).catch(() => undefined)
    }
    return false
  }
}

async function put(bot: MenuBot, scope: keyof Menus, entries: readonly MenuEntry[]): Promise<CallFailure | undefined> {
  const limits = { timeoutMs: callTimeoutMs, signal: bot.signal }
  const place = { scope: { type: scope } }
  const result =
    entries.length === 0
      ? await bot.client.call("deleteMyCommands", place, limits)
      : await bot.client.call("setMyCommands", { ...place, commands: [...entries] }, limits)
  return result.ok ? undefined : result.failure
}

/** Undefined: the platform refuses this menu; asking again changes nothing. A bot that it does not know it may know later. */
function retryDelay(failure: CallFailure, attempt: number): number | undefined {
  if (failure.kind === "refused") {
    if (failure.retryAfterSeconds !== undefined) return failure.retryAfterSeconds * 1000
    if (failure.code < 429 && !isTokenRefused(failure)) return undefined
  }
  return backoffMs(retryPolicy, attempt)
}
