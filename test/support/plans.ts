// Every statement that the product prepares in a test of its own store is looked at once: one that reads a whole table that
// grows with use is a fault, however quick it is with the few rows of a test.
import assert from "node:assert/strict"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { Store } from "../../src/store/index.ts"

/** Grow with every message, run, delivery or change. */
const growing = new Set(
  (
    "inbox job step outbox event message hook_delivery chat_button tool_send usage ended_session session_site approval " +
    "audit conversation conversation_size budget_total budget_notice schedule_occurrence web_message queue_drop " +
    "group_history unreadable_update"
  ).split(" "),
)
const root = pathToFileURL(join(import.meta.dirname, "../..")).href
/** What asked for a statement is the nearest place on the way that is ours and not the store's own connection. */
const ours = /^\/(?:src|test|cli|emulator)\/(?!store\/sqlite\.ts)/
const ofTests = /^\/test\/|\.test\.ts|\.fixture\.ts|\/test-bench\/|\/testing\//
/** Walks from one end of the table, or from a place in it, passes over nothing and stops after so many rows. */
const walksFromAnEnd = /from \w+ (?:where id [<>]=? \? )?order by (?:id|rowid) (?:desc )?limit/

const looked = new Set<string>()

/** A store that is being opened, which rejects its closing where such a statement was met. */
export async function withPlansWatched(opening: Promise<Store>): Promise<Store> {
  const store = await opening
  const { raw } = store.handle
  const prepare = raw.prepare.bind(raw)
  const found = new Map<string, string>()
  raw.prepare = (sql) => {
    if (!looked.has(sql)) {
      const place = callers().find((each) => ours.test(each))
      if (place !== undefined && !ofTests.test(place)) found.set(sql, place)
    }
    return prepare(sql)
  }
  const close = store.close.bind(store)
  store.close = async () => {
    const faults = [...found].flatMap(([sql, place]) => {
      looked.add(sql)
      return scanned(raw, sql).map((table) => `${place} reads all of ${table}: ${sql.replace(/\s+/g, " ")}`)
    })
    found.clear()
    await close()
    assert.deepEqual(faults, [])
  }
  return store
}

/** Places of this project, the nearest first: `/src/store/jobs.ts:150:5`. Wherever it was cloned to. */
function callers(): string[] {
  const before = Error.stackTraceLimit
  Error.stackTraceLimit = 60
  const { stack = "" } = new Error("who asks")
  Error.stackTraceLimit = before
  return stack
    .split("\n")
    .slice(3)
    .flatMap((line) => line.split(root)[1]?.replace(/\)$/, "") ?? [])
}

function scanned(raw: Store["handle"]["raw"], sql: string): string[] {
  if (!/^\s*(?:select|update|delete|insert|with)/i.test(sql) || walksFromAnEnd.test(sql.replace(/[\s"]+/g, " ")))
    return []
  const plan = raw.prepare(`explain query plan ${sql}`).all() as { detail: string }[]
  return plan.flatMap(({ detail }) => {
    const [, table = "", index] = /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(detail) ?? []
    return growing.has(table) && !(index !== undefined && isPartial(raw, index)) ? [table] : []
  })
}

/** It holds only the rows that are of interest: those that are open, dead, waiting. */
function isPartial(raw: Store["handle"]["raw"], index: string): boolean {
  return raw.prepare("select 1 from sqlite_schema where name = ? and sql like '% where %'").get(index) !== undefined
}
