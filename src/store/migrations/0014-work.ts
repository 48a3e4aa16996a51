// Classes of work (people before machines), delays that are known as such, so that a clock that is set can move them,
// and deliveries of which nobody knows whether they have arrived.
import { type Kysely, sql } from "kysely"

const statements = [
  // 0: a person waits for it; 1: webhooks; 2: what the gateway does by itself at times.
  `alter table job add column class integer not null default 0`,
  // How long it was to wait when run_at was set; null: run_at is a time of day that was asked for.
  `alter table job add column delay_ms integer`,
  `alter table job add column hold_until integer`,
  `update job set class = 1 where state in ('ready', 'running') and kind = 'turn'
     and json_extract(payload, '$.purpose') = 'hook'`,
  `update job set class = 2 where state in ('ready', 'running') and kind = 'heartbeat'`,
  `drop index job_ready`,
  `create index job_ready on job (class, run_at, id) where state = 'ready' and head = 1`,
  `create index job_delayed on job (run_at) where state = 'ready' and delay_ms is not null`,

  `alter table outbox add column delay_ms integer`,
  `alter table outbox add column waited_ms integer not null default 0`,
  // The question that asks about it; the same on the question itself.
  `alter table outbox add column doubt text`,
  `create index outbox_delayed on outbox (run_at) where state = 'new' and delay_ms is not null`,
  `create index outbox_doubt on outbox (doubt) where doubt is not null`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
