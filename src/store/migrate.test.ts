// A kill at any point of a migration leaves a folder that the next start goes on with. What a kill leaves are the files
// as they stand at that moment, so they are copied there, at every statement, and each copy is started from. The build
// of an index, which is one statement, is cut in a process of its own.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { once } from "node:events"
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type TestContext, test } from "node:test"
import { fileURLToPath } from "node:url"
import { Migrator } from "kysely/migration"
import { testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { AppError, noCrash } from "../kernel/index.ts"
import { migrate } from "./migrate.ts"
import { migrations, readableFrom } from "./migrations/index.ts"
import { kyselyOver, openSqlite } from "./sqlite.ts"

const databaseFiles = ["svc.db", "svc.db-wal"]

function copyFolder(from: string, to: string): string {
  mkdirSync(to, { recursive: true })
  for (const name of databaseFiles) if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name))
  return to
}

function hashOf(folder: string): string {
  const hash = createHash("sha256")
  for (const name of databaseFiles) if (existsSync(join(folder, name))) hash.update(readFileSync(join(folder, name)))
  return hash.digest("hex")
}

const schemaOf = (database: DatabaseSync) =>
  database
    .prepare(
      "select name, sql from sqlite_schema where name not like 'kysely%' and name not like 'sqlite%' order by name",
    )
    .all()
    .map((row) => `${String(row["name"])}: ${String(row["sql"]).replace(/\s+/g, " ")}`)

const rowsOf = (database: DatabaseSync) =>
  ["inbox", "job", "step", "session", "message"].map((table) =>
    Number(database.prepare(`select count(*) as n from ${table}`).get()?.["n"]),
  )

/** Brings a copy up to date as a start does, without waiting for the disk; its schema and numbers of rows. */
async function finish(folder: string) {
  const handle = openSqlite(join(folder, "svc.db"))
  handle.raw.exec("pragma synchronous = off")
  await migrate({ handle, migrations, readableFrom, crashPoint: noCrash, now: () => "2026-01-01" })
  const found = { schema: schemaOf(handle.raw), rows: rowsOf(handle.raw) }
  handle.raw.close()
  return found
}

/** As the program that knew the first so many migrations left it, by the migrator that it had. */
async function folderOfOld(upTo: string, jobs: number): Promise<string> {
  const folder = temporaryFolder()
  const handle = openSqlite(join(folder, "svc.db"))
  handle.raw.exec("pragma synchronous = off")
  const migrator = new Migrator({ db: handle.db, provider: { getMigrations: async () => migrations } })
  const { error } = await migrator.migrateTo(upTo)
  assert.equal(error, undefined)
  handle.raw.exec(`
    insert into inbox (source, account, delivery_id, received_at, payload) values ('hook', '', 'd1', 1, '{}');
    insert into session (key, agent_id, session_id, created_at, updated_at) values ('s', 'main', 'now', 1, 1);
    insert into message (session_id, message, tokens, created_at) values ('now', '{}', 5, 1), ('over', '{}', 5, 2);
    insert into job (run_id, kind, lane_key, payload, created_at, state)
      with recursive n(i) as (select 1 union all select i + 1 from n where i < ${jobs})
      select 'r' || i, 'turn', 's' || (i % 50), '{}', i, 'done' from n;
    insert into step (job_id, n, kind, data, created_at) values (1, 0, 'prompt', '{}', 1);
  `)
  await handle.db.destroy()
  return folder
}

async function expectedSchema(context: TestContext): Promise<string[]> {
  const store = await testStore(context)
  const schema = schemaOf(store.handle.raw)
  await store.close()
  return schema
}

const isLong = process.env["SVC_LONG_TESTS"] !== undefined

/** All of them in the long form, else every third one and the last, beginning with another one each time. */
function some(copies: readonly string[], begin = 0): string[] {
  return copies.filter((_, index) => isLong || index % 3 === begin % 3 || index === copies.length - 1)
}

for (const { name, folder, rows } of [
  { name: "an empty folder", folder: async () => temporaryFolder(), rows: [0, 0, 0, 0, 0] },
  {
    name: "a folder that an older program has filled",
    folder: () => folderOfOld("0001-first", 20),
    rows: [1, 20, 1, 1, 2],
  },
]) {
  test(`a kill at every statement of every migration leaves ${name} that starts`, async (context) => {
    const expected = await expectedSchema(context)
    const source = await folder()
    const copies = new Map<string, string>()
    let kills = 0
    const first = await testStore(context, {
      folder: source,
      crashPoint(label) {
        if (!label.startsWith("migrate.")) return
        kills += 1
        // Most statements leave the same files: what is not committed is not on the disk.
        const state = hashOf(source)
        if (!copies.has(state)) copies.set(state, copyFolder(source, join(temporaryFolder(), "copy")))
      },
    })
    await first.close()
    assert.ok(kills > 40, "one at each statement, and two for each migration")
    assert.ok(copies.size >= Object.keys(migrations).length - 1, "each commit is another state")
    for (const copy of some([...copies.values()])) assert.deepEqual(await finish(copy), { schema: expected, rows })
    const last = await testStore(context, { folder: [...copies.values()][2] as string })
    assert.equal((await last.ingest({ source: "hook", account: "", deliveryId: "new", payload: {} })).kind, "accepted")
  })
}

test("a schema that nothing has cut is made without a word about what stood already", async () => {
  const handle = openSqlite(join(temporaryFolder(), "svc.db"))
  const finished: string[] = []
  const onFinished = (name: string) => void finished.push(name)
  await migrate({ handle, migrations, readableFrom, crashPoint: noCrash, now: () => "2026-01-01", onFinished })
  await handle.db.destroy()
  assert.deepEqual(finished, [])
})

test("what a program without transactions left half made is finished, wherever it was killed", async (context) => {
  const expected = await expectedSchema(context)
  const released = Object.keys(migrations).filter((name) => name <= "0011-segments")
  for (const [index, name] of released.entries()) {
    // Each statement commits alone and the record comes last, as it was then; the files are kept after each statement.
    const folder = index === 0 ? temporaryFolder() : await folderOfOld(released[index - 1] as string, 3)
    const handle = openSqlite(join(folder, "svc.db"))
    handle.raw.exec("pragma synchronous = off")
    const copies: string[] = []
    const prepare = (sql: string) => {
      copies.push(copyFolder(folder, join(temporaryFolder(), "copy")))
      return handle.raw.prepare(sql)
    }
    await migrations[name]?.up(kyselyOver(handle, prepare))
    copies.push(copyFolder(folder, join(temporaryFolder(), "copy")))
    handle.raw.close()
    for (const copy of some(copies, index)) {
      const { schema, rows } = await finish(copy)
      assert.deepEqual(schema, expected, `${name}, killed`)
      assert.equal(rows[1], index === 0 ? 0 : 3)
    }
  }
})

test("the build of an index on a large table may be cut at any time", async (context) => {
  const filled = await folderOfOld("0003-chat", 40_000)
  const program = `
    import { openStore } from ${JSON.stringify(fileURLToPath(new URL("./index.ts", import.meta.url)))}
    import { noCrash, systemClock, systemIds } from ${JSON.stringify(fileURLToPath(new URL("../kernel/index.ts", import.meta.url)))}
    import { pino } from "pino"
    process.send("begins")
    await openStore({ folder: process.argv[1], bootId: "x", clock: systemClock, ids: systemIds, log: pino({ level: "silent" }), crashPoint: noCrash })
    process.send("done")`
  const cuts = !isLong ? [5, 25, 60] : Array.from({ length: 200 }, (_, n) => n)
  const folder = copyFolder(filled, join(temporaryFolder(), "cut"))
  for (const afterMs of cuts) {
    const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", program, folder], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    })
    const exited = once(child, "exit")
    await once(child, "message")
    setTimeout(() => child.kill("SIGKILL"), afterMs)
    await exited
    const database = new DatabaseSync(join(folder, "svc.db"))
    assert.deepEqual(
      database
        .prepare("pragma integrity_check")
        .all()
        .map((row) => row["integrity_check"]),
      ["ok"],
    )
    database.close()
  }
  const store = await testStore(context, { folder })
  assert.equal(rowsOf(store.handle.raw)[1], 40_000)
})

test("a store of a newer program is named as one, with what to install, and left as it is", async (context) => {
  const folder = temporaryFolder()
  const store = await testStore(context, { folder })
  store.handle.raw.exec(`
    insert into kysely_migration (name, timestamp) values ('0099-later', '2030-01-01');
    insert into meta (key, value) values ('madeBy', '"7.1.0"') on conflict do update set value = excluded.value;
    update meta set value = '"0099-later"' where key = 'readableFrom';
  `)
  await store.close()
  await assert.rejects(
    testStore(context, { folder }),
    (error) =>
      error instanceof AppError &&
      error.code === "storage-newer" &&
      /made by a newer svc \(schema 99, this program knows \d+\)/.test(error.message) &&
      /Install svc 7\.1\.0 or newer, or restore a backup/.test(error.hint ?? ""),
  )
})

test("a store of the released schema keeps what it held, with everything that the newer ones add to it", async (context) => {
  const folder = await folderOfOld("0011-segments", 3)
  const before = openSqlite(join(folder, "svc.db"))
  before.raw.exec(`
    insert into session (key, agent_id, session_id, created_at, updated_at, last_route) values
      ('agent:main:group', 'main', 'g', 1, 2, '{"channel":"chatapp","account":"a","chatId":"-7","chatKind":"group"}'),
      ('agent:main:odd', 'main', 'o', 1, 2, '{"channel":"chatapp","chatKind":"group"}'),
      ('agent:main:main', 'main', 'p', 1, 2, '{"channel":"chatapp","account":"a","chatId":"7","chatKind":"private"}');
    insert into job (id, run_id, kind, lane_key, payload, created_at, state, head) values
      (101, 'person', 'turn', 'l1', '{"purpose":"chat"}', 1, 'ready', 1),
      (102, 'hook', 'turn', 'l2', '{"purpose":"hook"}', 1, 'running', 1),
      (103, 'beat', 'heartbeat', 'l3', '{}', 1, 'ready', 1);
    insert into step (job_id, n, kind, data, created_at) values (101, 0, 'prompt', '{}', 1), (101, 1, 'assistant', '{}', 1);
    insert into event (session_key, text, origin, trusted, created_at, consumed_by) values
      ('s', 'waits', 'x', 1, 1, null), ('s', 'answered', 'x', 1, 1, 101), ('s', 'asked', 'x', 1, 1, 102),
      ('s', 'long over', 'x', 1, 1, 1);
    insert into outbox (lane_key, channel, account, chat_id, route, kind, payload, state, head, created_at) values
      ('c', 'chatapp', 'a', '7', '{}', 'text', '{"text":"x"}', 'new', 1, 1),
      ('d', 'chatapp', 'a', '8', '{}', 'text', '{"text":"y"}', 'uncertain', 0, 1);
    insert into chat_button (key, value, created_at) values ('k', 'v', 1);
    insert into usage (created_at, agent_id, purpose, model) values (1, 'main', 'chat', 'm');
    insert into hook_delivery (received_at, mapping, path, method, headers, query, body, verdict, status, runs, took_us) values
      (1, 'm', '/hooks/x', 'POST', '{}', '{}', x'0102', 'accepted', 200, '[]', 1);
  `)
  before.raw.close()
  const { handle } = await testStore(context, { folder })
  const read = (sql: string) =>
    handle.raw
      .prepare(sql)
      .all()
      .map((row) => Object.values(row).join(" "))
  assert.deepEqual(read("select run_id, class from job where id > 100 order by id"), ["person 0", "hook 1", "beat 2"])
  assert.deepEqual(read("select text, consumed_by, held_by from event order by id"), [
    "waits  ",
    "answered 101 ",
    "asked  102",
    "long over 1 ",
  ])
  assert.deepEqual(read("select state, head, waited_ms from outbox order by id"), ["new 1 0", "uncertain 0 0"])
  assert.deepEqual(read("select chat_id, is_member from chat_membership"), ["-7 1"])
  assert.deepEqual(read("select session_id, machine from ended_session"), ["over 0"])
  assert.deepEqual(read("select distinct origin, trusted from message"), ["unknown 0"])
  assert.deepEqual(read("select key, value from chat_button"), ["k v"])
  handle.raw.exec("delete from hook_delivery")
  assert.deepEqual(read("select bytes from hook_kept"), ["0"], "what was there before is counted like what comes")
})
