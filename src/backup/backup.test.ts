import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, test } from "node:test"
import { gunzipSync, gzipSync } from "node:zlib"
import { plain } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { systemIds } from "../kernel/index.ts"
import { acquireStateLock, tryFileLock } from "../store/index.ts"
import { packed, quiet, restore, stateFolderWith } from "./backup.fixture.ts"
import { blockBytes } from "./archive/header.ts"
import { collectFiles } from "./collect.ts"
import { describeRestore } from "./describe.ts"
import { archiveName, findArchives, originOf, resolveArchive } from "./folder.ts"
import { listBackups } from "./list.ts"
import { verifyBackup } from "./verify.ts"

const photo = Buffer.alloc(300_000, 7)

function rows(folder: string, sql: string) {
  const database = new DatabaseSync(join(folder, "svc.db"), { readOnly: true })
  try {
    return plain(database.prepare(sql).all()) as Record<string, unknown>[]
  } finally {
    database.close()
  }
}

function modes(folder: string): number[] {
  const here = readdirSync(folder, { recursive: true, withFileTypes: true })
  return here.map((entry) => statSync(join(entry.parentPath, entry.name)).mode & 0o777).toSorted()
}

test("a backup of a folder in use holds configuration, media, secrets and the database, and comes back the same", async (context) => {
  const outside = join(temporaryFolder(), "keys.json")
  writeFileSync(outside, `{"logging": {"level": "warn"}}`)
  const place = await stateFolderWith(context, {
    "svc.json": `{ $include: ["./more.json", "${outside}"] }`,
    "more.json": "{}",
    "media/inbound/a.jpg": photo,
    "workspace/skills/orders.md": "how to",
    "gateway-token": "secret",
    "logs/gateway.log": "not this",
    "browser/managed/user-data/Cookies": "not this",
    reserve: "not this",
    "in-flight": "not this",
    "gateway.json": "not this",
    ".svc.json.abcdef.tmp": "not this",
  })
  symlinkSync("/etc", join(place.stateFolder, "workspace", "etc"))
  await place.store.meta.set("color", "blue")
  const made = await place.create()
  assert.equal(statSync(made.archive).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(dirname(made.archive)), [basename(made.archive)], "nothing else is left in the folder")
  assert.match(made.leftOut.join("\n"), /browser: .*\n.*etc: a link/)

  const to = join(temporaryFolder(), "new", "state")
  const report = await restore(made.archive, to)
  const names = readdirSync(to, { recursive: true })
    .map(String)
    .filter((name) => statSync(join(to, name)).isFile())
  const copy = join("config-from-elsewhere", outside.slice(1))
  assert.deepEqual(
    names.toSorted(),
    [
      "svc.json",
      "more.json",
      "gateway-token",
      "store.json",
      "svc.db",
      "media/inbound/a.jpg",
      "workspace/skills/orders.md",
      copy,
    ].toSorted(),
  )
  assert.deepEqual(report.elsewhere, [{ from: outside, to: join(to, copy) }])
  assert.deepEqual(readFileSync(join(to, "media/inbound/a.jpg")), photo)
  assert.deepEqual([...new Set(modes(to))], [0o600, 0o700], "nobody else may read it")
  assert.deepEqual(rows(to, "select value from meta where key = 'color'"), [{ value: `"blue"` }])
})

test("what is committed while the copy is made neither gets in nor holds it up", async (context) => {
  const place = await stateFolderWith(context)
  const fill = async (session: string, count: number) => {
    await place.store.write(async (write) => {
      for (let n = 0; n < count; n += 1)
        write.addEvent({ sessionKey: session, text: "x".repeat(2000), origin: "system", trusted: true })
    })
  }
  for (let n = 0; n < 8; n += 1) await fill("before", 500)
  let isDone = false
  const made = place.create().finally(() => (isDone = true))
  let written = 0
  while (!isDone) {
    await fill("during", 1)
    written += 1
  }
  const { archive } = await made
  const to = join(temporaryFolder(), "state")
  await restore(archive, to)
  const count = (folder: string, session: string) =>
    rows(folder, `select count(*) as n from event where session_key = '${session}'`)[0]?.["n"]
  assert.equal(count(to, "before"), 4_000)
  assert.ok(written > 1, "it was written to meanwhile")
  assert.equal(count(place.stateFolder, "during"), written)
})

describe("restoring refuses", () => {
  test("a folder that is not empty, a live one, and one that is no state folder", async (context) => {
    const place = await stateFolderWith(context)
    const { archive } = await place.create()
    const other = temporaryFolder()
    writeFileSync(join(other, "thesis.txt"), "years of work")
    await assert.rejects(restore(archive, other, { replace: true }), { code: "conflict" })
    const present = join(temporaryFolder(), "state")
    await restore(archive, present)
    await assert.rejects(restore(archive, present), { code: "conflict" })
    const lock = await acquireStateLock(present, { pid: 4711, bootId: "b", startedAt: "then" })
    context.after(() => lock.release())
    for (const replace of [false, true]) {
      await assert.rejects(restore(archive, present, { replace }), { code: "already-running", message: /process 4711/ })
    }
    assert.deepEqual(readdirSync(dirname(present)), ["state"], "nothing is left beside")
  })

  test("a backup of a newer release, naming both", async (context) => {
    const place = await stateFolderWith(context)
    await place.store.close()
    const database = new DatabaseSync(join(place.stateFolder, "svc.db"))
    database.exec(`
      insert into kysely_migration (name, timestamp) values ('9000-later', 'then');
      update meta set value = '"9000-later"' where key = 'readableFrom';
    `)
    database.close()
    const wanted = { code: "backup-newer", message: /by svc 1\.2\.3 \(schema 9000-later\); this one knows \d{4}-/ }
    await assert.rejects(place.create(), wanted)
  })
})

test("a folder is replaced from a backup that lies in it", async (context) => {
  const place = await stateFolderWith(context)
  const { archive } = await place.create()
  await place.store.close()
  place.write("mine.txt", "later")
  const report = await restore(archive, place.stateFolder, { replace: true })
  assert.equal(existsSync(join(place.stateFolder, "mine.txt")), false)
  assert.deepEqual(readdirSync(join(report.setAside ?? "", "backups")), [basename(archive)])
  assert.match(describeRestore(report).join("\n"), /is now .*before-restore-.* with the backups that were in it/)
})

test("restoring with --replace keeps what stood there", async (context) => {
  const place = await stateFolderWith(context)
  const { archive } = await place.create()
  const to = join(temporaryFolder(), "state")
  await restore(archive, to)
  writeFileSync(join(to, "mine.txt"), "mine")
  const { setAside } = await restore(archive, to, { replace: true })
  assert.equal(readFileSync(join(setAside ?? "", "mine.txt"), "utf8"), "mine")
  assert.equal(existsSync(join(to, "mine.txt")), false)
  assert.ok(existsSync(join(to, "svc.db")))
})

const openRows = `
  insert into outbox (lane_key, channel, account, chat_id, route, kind, payload, state, head, created_at, owner) values
    ('a', 'chatapp', 'default', '1', '{}', 'text', '{}', 'sending', 1, 1, 'boot'),
    ('a', 'chatapp', 'default', '1', '{}', 'text', '{}', 'new', 0, 1, null),
    ('b', 'chatapp', 'default', '2', '{}', 'text', '{}', 'sent', 0, 1, null);
  insert into job (run_id, kind, lane_key, payload, state, head, created_at, owner) values
    ('run-1', 'turn', 'a', '{}', 'running', 1, 1, 'boot'), ('run-2', 'turn', 'a', '{}', 'ready', 0, 1, null),
    ('run-3', 'turn', 'b', '{}', 'done', 0, 1, null);`

const states = (to: string) => ({
  outbox: rows(to, "select state, head from outbox order by id").map(
    ({ state, head }) => `${String(state)} ${String(head)}`,
  ),
  jobs: rows(to, "select state from job order by id").map(({ state }) => state),
})

test("messages under way come back in doubt and accepted work open; both as wished", async (context) => {
  const place = await stateFolderWith(context)
  place.store.handle.raw.exec(openRows)
  const { archive, counts } = await place.create()
  assert.deepEqual([counts["openRuns"], counts["unsentMessages"]], [2, 2])
  const folder = temporaryFolder()

  const usual = await restore(archive, join(folder, "usual"))
  assert.deepEqual(states(usual.folder), {
    outbox: ["uncertain 0", "uncertain 0", "sent 0"],
    jobs: ["running", "ready", "done"],
  })
  assert.match(
    String(rows(usual.folder, "select error from outbox where id = 1")[0]?.["error"]),
    /restored from the backup of 2/,
  )
  const words = describeRestore(usual).join("\n")
  assert.match(words, /2 accepted pieces of work had not ended \(run-1, run-2\): done at the start/)
  assert.match(words, /2 messages had not been sent and may have been since: not sent again/)

  const moved = await restore(archive, join(folder, "moved"), { unsent: "send" })
  assert.deepEqual(states(moved.folder).outbox, ["new 1", "new 0", "sent 0"])
  assert.match(describeRestore(moved).join("\n"), /sent at the start, also if they have been sent since/)

  const held = await restore(archive, join(folder, "held"), { openWork: "hold" })
  assert.deepEqual(states(held.folder).jobs, ["dead", "dead", "done"])
  assert.match(describeRestore(held).join("\n"), /held, not done/)
})

test("a question about a message in doubt that was not sent yet is asked after a restore", async (context) => {
  const place = await stateFolderWith(context)
  place.store.handle.raw.exec(
    `${openRows}
     insert into outbox (lane_key, channel, account, chat_id, route, kind, payload, state, head, created_at, doubt) values
       ('b', 'chatapp', 'default', '2', '{}', 'text', '{}', 'uncertain', 0, 1, 'q'),
       ('a', 'chatapp', 'default', '1', '{}', 'text', '{}', 'new', 0, 1, 'q');`,
  )
  const { archive } = await place.create()
  const usual = await restore(archive, join(temporaryFolder(), "usual"))
  assert.deepEqual(states(usual.folder).outbox, ["uncertain 0", "uncertain 0", "sent 0", "uncertain 0", "new 1"])
  assert.equal(usual.unsent.messages, 2)
})

/** Unpacks an archive into its members, lets them be changed, and packs them again. */
function repack(archive: string, change: (members: Map<string, Buffer>) => void): string {
  const bytes = gunzipSync(readFileSync(archive))
  const members = new Map<string, Buffer>()
  for (let at = 0; bytes[at] !== 0;) {
    const path = bytes.toString("utf8", at, bytes.indexOf(0, at))
    const size = Number.parseInt(bytes.toString("latin1", at + 124, at + 135), 8)
    members.set(path, bytes.subarray(at + blockBytes, at + blockBytes + size))
    at += blockBytes + Math.ceil(size / blockBytes) * blockBytes
  }
  change(members)
  const file = join(temporaryFolder(), "changed.tar.gz")
  writeFileSync(file, packed([...members].map(([path, content]) => ({ path, content }))))
  return file
}

/** A manifest that fits the changed members, as somebody would write it who means harm. */
function fitManifest(
  members: Map<string, Buffer>,
  edit: (manifest: { members: { path: string; size: number; sha256: string }[] }) => void = () => undefined,
) {
  const manifest = JSON.parse(String(members.get("manifest.json"))) as Parameters<typeof edit>[0]
  manifest.members = [...members]
    .filter(([path]) => path !== "manifest.json")
    .map(([path, content]) => ({
      path,
      size: content.length,
      sha256: createHash("sha256").update(content).digest("hex"),
    }))
  edit(manifest)
  members.set("manifest.json", Buffer.from(JSON.stringify(manifest)))
}

type Change = (members: Map<string, Buffer>) => void
const addMember =
  (path: string): Change =>
  (members) => {
    members.set(path, Buffer.from("evil"))
    fitManifest(members)
  }

const hostile: Record<string, Change> = {
  "a path that leads out": addMember("state/../../evil"),
  "an absolute path": addMember("/etc/evil"),
  "a path below no root of ours": addMember("evil/file"),
  "a path with an empty part": addMember("state//evil"),
  "a path with a control character": addMember("state/\u001b[2Jevil"),
  "a path with a backslash": addMember("state/..\\evil"),
  "a file where a folder is": (members) => {
    members.set("state/dir", Buffer.from("file"))
    addMember("state/dir/evil")(members)
  },
  "a member that the manifest does not name": (members) => void members.set("state/evil", Buffer.from("evil")),
  "a member that is missing": (members) => void members.delete("state/svc.json"),
  "a changed byte": (members) => void members.set("state/svc.json", Buffer.from("[]\n")),
  "a size that is not the member's": (members) =>
    fitManifest(members, (manifest) => {
      for (const member of manifest.members) member.size += 1
    }),
  "a name twice": (members) =>
    fitManifest(members, (manifest) => manifest.members.push(...manifest.members.slice(0, 1))),
  "no database": (members) => {
    members.delete("state/svc.db")
    fitManifest(members)
  },
  "a database that is none": (members) => {
    members.set("state/svc.db", Buffer.alloc(8192, 1))
    fitManifest(members)
  },
  "a database with a broken page": (members) => {
    const database = Buffer.from(members.get("state/svc.db") ?? "")
    database.fill(0xff, 4096, 8192)
    members.set("state/svc.db", database)
    fitManifest(members)
  },
  "a manifest that is no JSON": (members) => void members.set("manifest.json", Buffer.from("{")),
  "no manifest in front": (members) => {
    const manifest = members.get("manifest.json") ?? Buffer.alloc(0)
    members.delete("manifest.json")
    members.set("manifest.json", manifest)
  },
}

test("hostile and damaged archives are refused, by both commands, and nothing is left", async (context) => {
  const place = await stateFolderWith(context)
  const { archive } = await place.create()
  for (const [name, change] of Object.entries(hostile)) {
    const file = repack(archive, change)
    const parent = temporaryFolder()
    await assert.rejects(restore(file, join(parent, "state")), { code: "backup-damaged" }, name)
    await assert.rejects(verifyBackup(file, quiet), { code: "backup-damaged" }, name)
    assert.deepEqual(readdirSync(parent), [], name)
    assert.deepEqual(readdirSync(dirname(file)), [basename(file)], name)
  }
  const good = repack(archive, (members) => fitManifest(members))
  await verifyBackup(good, quiet)
})

test("more than the disk holds is refused before anything is written", async (context) => {
  const place = await stateFolderWith(context)
  const { archive } = await place.create()
  const huge = repack(archive, (members) =>
    fitManifest(members, (manifest) => {
      for (const member of manifest.members) member.size = 2 ** 50
    }),
  )
  const parent = temporaryFolder()
  await assert.rejects(restore(huge, join(parent, "state")), { code: "storage-full" })
  assert.deepEqual(readdirSync(parent), [])
})

test("what killed restores and killed backups have left is removed by the next, what runs is not", async (context) => {
  const place = await stateFolderWith(context)
  const parent = temporaryFolder()
  const left = (name: string) => {
    mkdirSync(join(parent, name))
    writeFileSync(join(parent, name, "svc.db"), "half")
  }
  left("state.restoring-dead")
  left("state.restoring-alive")
  left("state2.restoring-other")
  const alive = tryFileLock(join(parent, "state.restoring-alive", "restore.lock"))
  context.after(() => alive?.release())
  const backups = join(place.stateFolder, "backups")
  mkdirSync(backups)
  const origin = originOf(place.stateFolder)
  writeFileSync(join(backups, `.svc-backup-${origin}-dead.partial`), "half")
  writeFileSync(join(backups, `.svc-backup-${origin}-dead.partial.db-journal`), "half")
  writeFileSync(join(backups, ".svc-backup-00000000-other.partial"), "half")
  const { archive } = await place.create()
  assert.deepEqual(readdirSync(backups).toSorted(), [".svc-backup-00000000-other.partial", basename(archive)])
  await restore(archive, join(parent, "state"))
  assert.deepEqual(readdirSync(parent).toSorted(), ["state", "state.restoring-alive", "state2.restoring-other"])
})

test("what a backup has left that was killed while it was read back is removed by the next", async (context) => {
  const place = await stateFolderWith(context)
  const backups = join(place.stateFolder, "backups")
  const left: string[] = []
  const { archive } = await place.create({
    progress(step) {
      if (step === "checking the database") left.push(...readdirSync(backups).filter((name) => name.startsWith(".")))
    },
  })
  assert.ok(left.length > 0)
  for (const name of left) writeFileSync(join(backups, name), "as it was at that moment")
  const next = await place.create()
  assert.deepEqual(readdirSync(backups).toSorted(), [basename(archive), basename(next.archive)].toSorted())
})

test("a folder that cannot be one is refused with the reason", async (context) => {
  const place = await stateFolderWith(context, { file: "no folder" })
  const file = join(place.stateFolder, "file")
  const refused = { code: "bad-request", message: /cannot go to .*: (it is|a part of its path is) a file/ }
  await assert.rejects(place.create({ folder: file }), refused)
  await assert.rejects(place.create({ folder: join(file, "below") }), refused)
  // Where no name can be made, Node's recursive mkdir would go on for ever.
  if (process.platform === "linux")
    await assert.rejects(place.create({ folder: "/proc/svc/a" }), { code: "bad-request" })
  const { archive } = await place.create({ folder: join(place.stateFolder, "two", "levels") })
  assert.equal(existsSync(archive), true)
})

test("only one backup of a folder is made at a time", async (context) => {
  const place = await stateFolderWith(context)
  const [one, other] = await Promise.allSettled([place.create(), place.create()])
  assert.deepEqual([one.status, other.status].toSorted(), ["fulfilled", "rejected"])
})

test("a file that changes all the time is named, and nothing is left", async (context) => {
  const place = await stateFolderWith(context, { "workspace/diary.txt": "a" })
  let writes = 0
  const progress = (step: string) => {
    if (step !== "reading files") return
    writes += 1
    // Between the two times that it is read.
    setImmediate(() => place.write("workspace/diary.txt", "b".repeat(writes)))
  }
  const outcome = await place.create({ progress }).catch((error: unknown) => error)
  if (outcome instanceof Error) assert.match(outcome.message, /diary\.txt changes while it is backed up/)
  assert.ok(readdirSync(join(place.stateFolder, "backups")).every((name) => !name.includes("partial")))
})

test("a folder that goes away while the folders are looked through holds nothing, and the others are in", async (context) => {
  const { stateFolder } = await stateFolderWith(context, { "workspace/a/1.txt": "1", "workspace/b/2.txt": "2" })
  let met = -readdirSync(stateFolder).length
  const { files } = collectFiles({
    stateFolder,
    configPath: join(stateFolder, "svc.json"),
    variables: { SVC_STATE_DIR: stateFolder },
    // Asked for at each entry; behind those of the top the first is that of `a`, which was listed with `b`.
    get backupFolder() {
      met += 1
      if (met === 1) rmSync(join(stateFolder, "workspace", "b"), { recursive: true })
      return ""
    },
  })
  assert.deepEqual(
    files.map(({ path }) => path).filter((path) => path.startsWith("state/workspace")),
    ["state/workspace/a/1.txt"],
  )
})

test("what is put in the place of a file that was listed is neither followed nor waited for", async (context) => {
  const outside = temporaryFolder()
  mkdirSync(join(outside, "folder"))
  for (const name of ["key", "folder/a.txt"]) writeFileSync(join(outside, name), "secret of the host")
  const files = { "workspace/work/a.txt": "a", "workspace/work/b.txt": "b", "workspace/work/folder/a.txt": "c" }
  const place = await stateFolderWith(context, { ...files, "workspace/work/good.txt": "good" })
  const work = join(place.stateFolder, "workspace", "work")
  let isDone = false
  const progress = (step: string) => {
    if (step !== "reading files" || isDone) return
    isDone = true
    for (const name of ["a.txt", "b.txt", "folder"]) rmSync(join(work, name), { recursive: true })
    symlinkSync(join(outside, "key"), join(work, "a.txt"))
    execFileSync("mkfifo", [join(work, "b.txt")])
    symlinkSync(join(outside, "folder"), join(work, "folder"))
  }
  const { archive } = await place.create({ progress })
  const content = gunzipSync(readFileSync(archive)).toString("latin1")
  assert.match(content, /state\/workspace\/work\/good\.txt/)
  assert.doesNotMatch(content, /secret of the host/)
  assert.deepEqual(
    ["a.txt: a link", "b.txt: not a file", "folder: a link"].filter((line) => !content.includes(`work/${line}`)),
    [],
  )
})

test("of scheduled backups the newest are kept; those made by hand and those of others stay", async (context) => {
  const place = await stateFolderWith(context)
  const folder = join(temporaryFolder(), "backups")
  mkdirSync(folder)
  const day = 86_400_000
  const old = [1, 2, 3, 4].map((age) => archiveName(originOf(place.stateFolder), Date.now() - age * day, true))
  const byHand = archiveName(originOf(place.stateFolder), Date.now() - 9 * day, false)
  const ofOthers = archiveName("00000000", Date.now() - 9 * day, true)
  for (const name of [...old, byHand, ofOthers, "notes.txt"]) writeFileSync(join(folder, name), "")
  const { archive, removed } = await place.create({ folder, scheduled: { keep: 3 } })
  assert.deepEqual(removed.map((file) => basename(file)).toSorted(), old.slice(2).toSorted())
  assert.deepEqual(
    readdirSync(folder).toSorted(),
    [basename(archive), ...old.slice(0, 2), byHand, ofOthers, "notes.txt"].toSorted(),
  )
  assert.deepEqual(await resolveArchive(folder, "latest"), archive)
})

test("the list shows what cannot be read too", async (context) => {
  const place = await stateFolderWith(context)
  const { archive, files } = await place.create()
  const folder = dirname(archive)
  const broken = join(folder, archiveName(originOf(place.stateFolder), 1, true))
  writeFileSync(broken, gzipSync("no tar"))
  const [first, second] = await listBackups(folder)
  assert.deepEqual([first?.archive, first?.files, first?.version, first?.scheduled], [archive, files, "1.2.3", false])
  assert.equal(second?.archive, broken)
  assert.match(second?.problem ?? "", /cannot be used/)
  truncateSync(archive, statSync(archive).size - 20)
  await assert.rejects(verifyBackup(archive, quiet), { code: "backup-damaged" })
  assert.equal((await findArchives(join(folder, "nowhere"))).length, 0)
})

test("a backup of a damaged database is none, and says why", async (context) => {
  const place = await stateFolderWith(context)
  await place.store.close()
  const file = join(place.stateFolder, "svc.db")
  const bytes = readFileSync(file)
  // A page of some table or index, behind those of the schema.
  bytes.fill(0xff, bytes.length - 4096)
  writeFileSync(file, bytes)
  await assert.rejects(place.create(), { code: "backup-failed", message: /database is damaged/ })
  assert.deepEqual(readdirSync(join(place.stateFolder, "backups")), [])
})

test("a backup that is stopped leaves nothing", async (context) => {
  const place = await stateFolderWith(context, { "media/a.jpg": photo })
  const stop = new AbortController()
  const progress = (step: string) => {
    if (step === "packing") stop.abort(new Error(`stopped ${systemIds.uuid()}`))
  }
  await assert.rejects(place.create({ progress, signal: stop.signal }), /stopped/)
  assert.deepEqual(readdirSync(join(place.stateFolder, "backups")), [])
})
