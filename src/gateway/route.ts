// One route of `/api/*`: what it is given, what it answers, and how its input is read.
import type { HttpBindings } from "@hono/node-server"
import type { Context } from "hono"
import type { z } from "zod"
import { type Visit, readJson } from "../kernel/http/index.ts"
import type { Clock, JsonObject, Redactor } from "../kernel/index.ts"
import type { Store } from "../store/index.ts"
import type { Tokens } from "./access/index.ts"
import type { GatewayActions } from "./api.ts"
import type { Audit } from "./audit/index.ts"
import type { PageParts } from "./page/parts.ts"
import { parse } from "./parse.ts"

export { type Given, given, parse } from "./parse.ts"

export type Env = { Bindings: HttpBindings & { visit?: Visit | undefined; inside?: CallInside | undefined } }

export interface InsideCall {
  method: "GET" | "POST"
  path: string
  query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** Sent as JSON. */
  body?: unknown
}

/** Calls a route of `/api` in the name of whoever makes this request; its answer, or the AppError that it tells. */
export type CallInside = (call: InsideCall, signal: AbortSignal) => Promise<JsonObject>

export interface ApiOptions {
  store: Store
  tokens: Tokens
  audit: Audit
  clock: Clock
  actions: GatewayActions
  page: PageParts
  /** Where the log files are. */
  logFolder: string
  redactor: Redactor
}

/**
 * `shows`: `secret` for the one answer that must not pass the redactor; `whole` for what somebody decides about, of which
 * registered secrets alone are hidden.
 */
export type Answer = { status?: 200 | 202; body: object; shows?: "secret" | "whole" }
export type Handler = (options: ApiOptions, context: Context<Env>) => Promise<Answer>
export type Route = { method: "GET" | "POST"; path: string; handle: Handler }

const bodyLimits = { maxBytes: 1024 * 1024, timeoutMs: 30_000 }

export async function parseBody<T>(schema: z.ZodType<T>, context: Context<Env>): Promise<T> {
  return parse(schema, await readJson(context.env.incoming, bodyLimits))
}

/** Names and ids of what a request is about, for the audit log; never contents. */
export function about(context: Context<Env>, ...names: (string | undefined)[]): void {
  const { visit } = context.env
  if (visit) visit.target = names.filter((name) => name !== undefined && name !== "").join(" ")
}
