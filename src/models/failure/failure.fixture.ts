// Errors of providers for the tests: bodies as they were reported or documented, and how they are read.
import assert from "node:assert/strict"
import type { TestContext } from "node:test"
import { createRedactor, type Json } from "../../kernel/index.ts"
import { ProviderRefusal, ProviderReport } from "../providers/contract.ts"
import { classifyFailure, type Failure } from "./index.ts"

export const now = Date.parse("2026-03-01T12:00:00Z")

export function classify(error: unknown, secrets: readonly string[] = []): Failure {
  const redactor = createRedactor()
  for (const secret of secrets) redactor.add(secret)
  return classifyFailure(error, { now, redactor })
}

export function refusal(status: number, body: Json, headers: Readonly<Record<string, string>> = {}): ProviderRefusal {
  return new ProviderRefusal({ status, headers, body: typeof body === "string" ? body : JSON.stringify(body) })
}

export function report(body: Json): ProviderReport {
  return new ProviderReport(body)
}

/** What an error is expected to be read as; what is left out is not looked at. */
export interface Expected {
  kind: Failure["kind"]
  /** Part of the message. */
  message?: string
  retryable?: boolean
  waitMs?: number
  limit?: number
  code?: string
  hint?: RegExp
  otherKey?: boolean
}

export interface Sample {
  who: string
  error: unknown
  is: Expected
}

/** The expected facts and the read ones, in the same form, so that one comparison shows all that differs. */
export function compare({ error, is }: Sample): { read: object; expected: object } {
  const failure = classify(error)
  const read: Record<string, unknown> = {
    kind: failure.kind,
    retryable: failure.retryable,
    waitMs: failure.retryAfterMs,
  }
  const expected: Record<string, unknown> = {
    kind: is.kind,
    retryable: is.retryable ?? (is.kind === "busy" || is.kind === "network"),
    waitMs: is.waitMs,
  }
  const look = (name: string, value: unknown, wanted: unknown) => {
    if (wanted === undefined) return
    read[name] = value
    expected[name] = wanted
  }
  look("limit", failure.contextLimit, is.limit)
  look("code", failure.code, is.code)
  look("otherKey", failure.otherKeyMayHelp, is.otherKey)
  if (is.message !== undefined && !failure.message.includes(is.message)) look("message", failure.message, is.message)
  if (is.hint !== undefined && !is.hint.test(failure.hint ?? "")) look("hint", failure.hint, String(is.hint))
  return { read, expected }
}

/** A refusal: who gives it, with which status and body, and what it means. */
export interface Row {
  who: string
  status: number
  body: Json
  headers?: Record<string, string>
  is: Expected
}

export async function checkAll(t: TestContext, rows: readonly Row[]): Promise<void> {
  for (const { who, status, body, headers, is } of rows) {
    await t.test(`${who}, ${status}`, () => {
      const { read, expected } = compare({ who, error: refusal(status, body, headers), is })
      assert.deepEqual(read, expected)
    })
  }
}

export function openAi(message: string, type: string, code: string | null = null): Json {
  return { error: { message, type, param: null, code } }
}

export function anthropic(type: string, message: string): Json {
  return { type: "error", error: { type, message } }
}

export function google(code: number, status: string, message: string, details: Json[] = []): Json {
  return { error: { code, message, status, details } }
}

/** The same sentence of OpenAI, where it means an empty account, and of Google, where it means any limit. */
export const checkBilling = "You exceeded your current quota, please check your plan and billing details."
