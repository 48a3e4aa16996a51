// Waiting until somebody writes in a session: the transcript is looked at until a message of a person stands in it.
import { setTimeout as delay } from "node:timers/promises"
import { type Json, type JsonObject, isJsonObject } from "../../kernel/index.ts"
import type { Caller } from "../contract.ts"
import { needed } from "./tool.ts"

const maxSeconds = 240
const usualSeconds = 60
/** Messages come from people: nobody notices half a second. */
const pauseMs = 500
/** Messages of one look. */
const most = 50

/**
 * `{items}`: what was written after the message `after`, or since now; empty when the time is over. As many as are shown at once
 * end it too: what a person writes then stands behind them.
 */
export async function waitForMessage(input: JsonObject, caller: Caller, signal: AbortSignal): Promise<JsonObject> {
  const key = needed(input, "session")
  const given = Number(input["waitSeconds"] ?? usualSeconds)
  const seconds = Number.isFinite(given) ? Math.min(Math.max(given, 0), maxSeconds) : usualSeconds
  const read = async (query: Record<string, number | boolean>) => {
    const page = await caller.call({ method: "GET", path: "/api/session/messages", query: { key, ...query } }, signal)
    return Array.isArray(page["items"]) ? page["items"] : []
  }
  const after = input["after"] === undefined ? lastId(await read({ last: true, limit: 1 })) : Number(input["after"])
  const end = performance.now() + seconds * 1_000
  for (;;) {
    const items = await read({ after, limit: most })
    if (items.some(isPersons) || items.length >= most || performance.now() >= end) return { items }
    await delay(pauseMs, undefined, { signal })
  }
}

function lastId(items: readonly Json[]): number {
  const last = items.at(-1)
  return isJsonObject(last) ? Number(last["id"] ?? 0) : 0
}

function isPersons(item: Json): boolean {
  return isJsonObject(item) && isJsonObject(item["message"]) && item["message"]["role"] === "user"
}
