// A store with a hundred thousand rows in each list that grows: runs, webhook deliveries, messages out, sessions with a
// message each, approvals, the audit log.
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { defaultKeepTimes } from "../../src/store/sweeps.ts"
import type { BenchGateway } from "../gateway.ts"

export const rows = 100_000
const tables = ["job", "hook_delivery", "outbox", "session", "message", "approval", "audit"]

const dayMs = 24 * 60 * 60 * 1_000
/** Deliveries are kept the shortest: none of the rows is old enough to be pruned while the page is looked at. */
const betweenMs = Math.floor((defaultKeepTimes.hookDeliveriesMs - dayMs) / rows)

/** The last row is of now. */
export function fill({ stateFolder }: BenchGateway): void {
  const database = new DatabaseSync(join(stateFolder, "svc.db"))
  const put = (table: string, columns: string, values: string) =>
    database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})
      insert into ${table} (${columns}) select ${values} from (select i, ${Date.now()} - (${rows} - i) * ${betweenMs} as t from n)`)
  database.exec("begin")
  put(
    "job",
    "run_id, kind, lane_key, payload, result, state, head, attempts, run_at, created_at, started_at, finished_at",
    `printf('%08x-bench', i), 'turn', 'agent:main:main', json_object('text', 'Question ' || i),
      json_object('text', 'The answer to question ' || i), 'done', 0, 1, 0, t, t + 5, t + 900`,
  )
  put(
    "hook_delivery",
    "received_at, mapping, path, method, headers, query, body, verdict, status, runs, took_us",
    "t, 'orders', 'agent', 'POST', '{}', '{}', cast('{}' as blob), 'accepted', 202, '[]', 900",
  )
  put(
    "outbox",
    "lane_key, channel, account, chat_id, route, kind, payload, state, created_at, sent_at",
    `'chatapp:default:1001', 'chatapp', 'default', '1001',
      json_object('channel', 'chatapp', 'account', 'default', 'chatId', '1001'), 'text',
      json_object('text', 'Answer ' || i), 'sent', t, t + 20`,
  )
  put(
    "session",
    "key, agent_id, session_id, created_at, updated_at",
    "'agent:main:terminal:bench-' || i, 'main', 'bench-' || i, t, t",
  )
  put(
    "message",
    "session_id, message, tokens, created_at, origin, trusted",
    `'bench-' || i, json_object('role', 'assistant', 'text', 'Word ' || i), 5, t, 'model', 1`,
  )
  put(
    "approval",
    "id, run_id, session_key, agent_id, origin, tool, action, digest, text, resume, state, asked_at, expires_at",
    `printf('%08x-asked', i), printf('%08x-bench', i), 'agent:main:main', 'main', 'webhook', 'message', '{}', 'none',
      'Send letter ' || i, '{}', 'expired', t, t + 60000`,
  )
  put(
    "audit",
    "at, last_at, door, who_kind, who_id, who_name, action, target, outcome, count, counted",
    "t, t, 'cli', 'owner', '', 'owner', 'config.set', 'key-' || i, 'ok', 1, 0",
  )
  database.exec("commit")
  database.close()
}

/** Whether every list still has what was put in: a list that ends before its rows is then the page's own fault. */
export function checkKept({ stateFolder }: BenchGateway): void {
  const database = new DatabaseSync(join(stateFolder, "svc.db"), { readOnly: true })
  try {
    for (const table of tables) {
      const { kept } = database.prepare(`select count(*) as kept from ${table}`).get() as { kept: number }
      if (kept < rows) throw new Error(`of ${rows} rows of ${table} the gateway has kept ${kept}`)
    }
  } finally {
    database.close()
  }
}
