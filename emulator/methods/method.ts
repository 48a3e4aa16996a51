// What an API method is: a function of one call. It throws an ApiError, or returns the value of `result`.
import type { Bot } from "../world/bot.ts"
import type { World } from "../world/world.ts"
import type { Arguments } from "../wire/arguments.ts"

export interface MethodCall {
  world: World
  bot: Bot
  arguments: Arguments
  /** Aborted when the client has closed the connection. */
  signal: AbortSignal
}

export type Method = (call: MethodCall) => unknown

/** Methods by their documented names. */
export type MethodTable = Record<string, Method>

/** A result that comes with a `description`. */
export class DescribedResult {
  readonly value: unknown
  readonly description: string

  constructor(value: unknown, description: string) {
    this.value = value
    this.description = description
  }
}

/** A result that is JSON text already; the call log keeps a short form of it. */
export class JsonResult {
  readonly json: string
  readonly logged: unknown

  constructor(json: string, logged: unknown) {
    this.json = json
    this.logged = logged
  }
}
