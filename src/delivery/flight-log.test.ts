import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { isSettled, recordingSender, startOutbox } from "./delivery.fixture.ts"
import { FlightLog } from "./flight-log.ts"

const row = (id: number, attempts = 1) => ({ id, attempts })

function filled(): string {
  const path = join(temporaryFolder(), "in-flight")
  const log = new FlightLog(path)
  log.clear()
  log.begin(row(1))
  log.begin(row(2))
  log.end(row(2), { kind: "sent", remoteId: "77" })
  log.begin(row(3))
  log.end(row(3), { kind: "not-sent" })
  log.begin(row(4))
  log.end(row(4), { kind: "in-doubt" })
  log.close()
  return path
}

function endsIn(path: string) {
  const log = new FlightLog(path)
  const ends = [1, 2, 3, 4, 5].map((id) => log.endOf(row(id)).kind)
  log.close()
  return ends
}

test("what a killed process had begun and what had been answered is known after it", () => {
  const path = filled()
  assert.deepEqual(endsIn(path), ["in-doubt", "sent", "not-sent", "in-doubt", "not-begun"])
  assert.deepEqual(new FlightLog(path).endOf(row(2)), { kind: "sent", remoteId: "77" })
  // Another attempt of the same row was not begun.
  assert.deepEqual(new FlightLog(path).endOf(row(1, 2)), { kind: "not-begun" })
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test("after the operating system went down only answers count: a line may be missing", () => {
  const path = filled()
  writeFileSync(path, readFileSync(path, "utf8").replace(/"boot":"[^"]*"/, '"boot":"another"'))
  assert.deepEqual(endsIn(path), ["in-doubt", "sent", "not-sent", "in-doubt", "in-doubt"])
})

test("without a file everything is in doubt", () => {
  assert.deepEqual(new Set(endsIn(join(temporaryFolder(), "in-flight"))), new Set(["in-doubt"]))
})

test("cut at any byte it never takes a call that had begun for one that had not", () => {
  const path = filled()
  const whole = readFileSync(path)
  const lineOf = (id: number) => `"row":${id},"attempt":1,"begun":true}`
  const begins = [1, 2, 3, 4].map((id) => whole.indexOf(lineOf(id)) + lineOf(id).length)
  for (let length = 0; length <= whole.length; length += 1) {
    writeFileSync(path, whole.subarray(0, length))
    const ends = endsIn(path)
    for (const [index, begun] of begins.entries()) {
      if (length >= begun) assert.notEqual(ends[index], "not-begun", `row ${index + 1} at ${length}`)
    }
  }
})

test("a line that a full disk has cut spoils no other", () => {
  const path = filled()
  writeFileSync(path, `${readFileSync(path, "utf8")}\n{"row":5,"att`)
  const log = new FlightLog(path)
  log.begin(row(6))
  log.close()
  assert.equal(new FlightLog(path).endOf(row(6)).kind, "in-doubt")
})

const reasonToSkip = process.platform === "linux" ? false : "limits of a process that runs are set on Linux only"

test("makes no call whose line a full disk takes only in part", { skip: reasonToSkip }, (context) => {
  const path = filled()
  const limit = (bytes: string) => execFileSync("prlimit", ["--pid", String(process.pid), `--fsize=${bytes}:`])
  const log = new FlightLog(path)
  context.after(() => log.close())
  limit(String(statSync(path).size + 10))
  try {
    assert.throws(() => log.begin(row(6)), { code: "ENOSPC" })
  } finally {
    limit("unlimited")
  }
  log.begin(row(7))
  const next = new FlightLog(path)
  assert.deepEqual([next.endOf(row(6)).kind, next.endOf(row(7)).kind], ["not-begun", "in-doubt"])
  next.close()
})

test("does not grow while everything is recorded", () => {
  const path = join(temporaryFolder(), "in-flight")
  const log = new FlightLog(path)
  log.clear()
  for (let id = 1; id <= 10_000; id += 1) {
    log.begin(row(id))
    log.end(row(id), { kind: "sent", remoteId: "1" })
    log.recorded()
  }
  log.close()
  assert.ok(statSync(path).size < 300 * 1024)
})

test("what could not be recorded stays noted, however much is sent after it", async (context) => {
  const folder = temporaryFolder()
  const path = join(folder, "in-flight")
  const flights = new FlightLog(path)
  const sender = recordingSender((row) => ({ kind: "sent", remoteId: row.chat_id }))
  const outbox = await startOutbox(context, { sender, folder, flights })
  outbox.store.handle.raw.exec(
    `create trigger refuse before update on outbox when new.chat_id = '1' and new.state = 'sent' begin
       select raise(abort, 'refused'); end`,
  )
  await outbox.put(["1", "answer"])
  await outbox.until(() => sender.calls.length === 1)
  await outbox.put(["2", "behind"])
  await outbox.until((rows) => isSettled(rows.slice(1)))
  for (let id = 10; id < 10_000; id += 1) {
    flights.begin(row(id))
    flights.end(row(id), { kind: "sent", remoteId: "1" })
    flights.recorded()
  }
  assert.equal(outbox.rows()[0]?.state, "sending")
  const next = new FlightLog(path)
  assert.deepEqual(next.endOf(row(1)), { kind: "sent", remoteId: "1" })
  next.close()
})

test("one that cannot be opened is named, with what follows from moving it away", () => {
  const path = join(temporaryFolder(), "in-flight")
  mkdirSync(path)
  assert.throws(() => new FlightLog(path), { code: "storage-failed", message: /in-flight cannot be/, hint: /in doubt/ })
})
