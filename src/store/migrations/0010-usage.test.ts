import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { Migrator } from "kysely/migration"
import { plain, testStore } from "../../../test/support/store.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { openSqlite } from "../sqlite.ts"
import { migrations } from "./index.ts"

/** A folder as the version before left it, with a row in each of its tables that a turn leaves one in. */
async function filledFolder(): Promise<string> {
  const folder = temporaryFolder()
  const handle = openSqlite(join(folder, "svc.db"))
  const migrator = new Migrator({ db: handle.db, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateTo("0009-commands")
  assert.equal(error, undefined)
  handle.raw.exec(`
    insert into inbox (source, account, delivery_id, received_at, payload) values ('hook', '', 'd1', 1, '{}');
    insert into job (run_id, kind, lane_key, payload, created_at, state) values ('r1', 'turn', 's', '{}', 1, 'done');
    insert into step (job_id, n, kind, data, created_at) values (1, 0, 'prompt', '{}', 1);
    insert into session (key, agent_id, session_id, created_at, updated_at) values ('s', 'main', 'id', 1, 1);
    insert into message (session_id, job_id, message, tokens, created_at) values ('id', 1, '{"role":"user"}', 5, 1);
  `)
  await handle.db.destroy()
  return folder
}

test("a folder of the version before keeps its rows and takes usage from then on", async (context) => {
  const folder = await filledFolder()
  const store = await testStore(context, { folder })
  const count = (table: string) => store.handle.raw.prepare(`select count(*) as n from ${table}`).get()?.["n"]
  assert.deepEqual(["inbox", "job", "step", "session", "message", "usage"].map(count), [1, 1, 1, 1, 1, 0])
  const message = store.handle.raw.prepare("select message, tokens from message").all()
  assert.deepEqual(plain(message), [{ message: '{"role":"user"}', tokens: 5 }])
  const sizes = store.handle.raw.prepare("select * from conversation_size").all()
  assert.deepEqual(plain(sizes), [{ session_id: "id", messages: 1, tokens: 5 }])
  store.handle.raw.exec(
    "insert into usage (created_at, agent_id, purpose, model) values (2, 'main', 'chat', 'test/small')",
  )
  await store.close()
  const again = await testStore(context, { folder })
  const usage = again.handle.raw.prepare("select model, input_tokens, cost_nano_dollars from usage").all()
  assert.deepEqual(plain(usage), [{ model: "test/small", input_tokens: null, cost_nano_dollars: null }])
})
