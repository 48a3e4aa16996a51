// Runs one API call: arguments in, an answer as it goes over the wire out, with the call log written on the way.
import { ApiError } from "./errors.ts"
import type { CallLog } from "./control/call-log.ts"
import type { CallRecord } from "./control/call-record.ts"
import { allMethods, type NamedMethod } from "./methods/index.ts"
import { DescribedResult, JsonResult } from "./methods/method.ts"
import type { Arguments } from "./wire/arguments.ts"
import type { Bot } from "./world/bot.ts"
import type { World } from "./world/world.ts"

export interface Answer {
  status: number
  body: string
  retryAfterSeconds?: number
}

export class Dispatcher {
  readonly #world: World
  readonly #log: CallLog
  readonly #methods = allMethods()

  constructor({ world, log }: { world: World; log: CallLog }) {
    this.#world = world
    this.#log = log
  }

  /** Any case of a method's name finds it. */
  find(name: string): NamedMethod | undefined {
    return this.#methods.get(name.toLowerCase())
  }

  async run(
    bot: Bot,
    method: NamedMethod,
    source: Arguments,
    record: CallRecord,
    signal: AbortSignal,
  ): Promise<Answer> {
    try {
      const result: unknown = await method.run({ world: this.#world, bot, arguments: source, signal })
      const answer = { status: 200, body: successBody(result) }
      const isClosed = signal.aborted
      this.#log.finish(record, { status: isClosed ? 0 : 200, ok: true, result: loggedResult(result) })
      return answer
    } catch (error) {
      const answer = errorAnswer(error)
      const description = error instanceof Error ? error.message : String(error)
      this.#log.finish(record, { status: answer.status, ok: false, error: description })
      return answer
    }
  }

  /** Runs the call that a webhook gave as its answer; its result goes nowhere. */
  async runDetached(bot: Bot, source: Arguments): Promise<void> {
    const name = source.text("method")
    const method = this.find(name)
    const record = this.#log.start({ botId: bot.id, method: method?.name ?? name, via: "webhook", source })
    if (method) await this.run(bot, method, source, record, new AbortController().signal)
    else this.#log.finish(record, { status: 404, ok: false, error: "Not Found: method not found" })
  }
}

function successBody(result: unknown): string {
  if (result instanceof JsonResult) return `{"ok":true,"result":${result.json}}`
  if (result instanceof DescribedResult) {
    return JSON.stringify({ ok: true, result: result.value, description: result.description })
  }
  return JSON.stringify({ ok: true, result })
}

function loggedResult(result: unknown): unknown {
  if (result instanceof JsonResult) return result.logged
  return result instanceof DescribedResult ? result.value : result
}

/** An error that is not meant for the bot is a fault of the emulator, and says so. */
export function errorAnswer(error: unknown): Answer {
  const known = error instanceof ApiError ? error : new ApiError(500, `Internal Server Error: ${String(error)}`)
  const { status, message, parameters } = known
  const body = JSON.stringify({
    ok: false,
    error_code: status,
    description: message,
    ...(parameters ? { parameters } : {}),
  })
  return { status, body, ...(parameters?.retry_after ? { retryAfterSeconds: parameters.retry_after } : {}) }
}
