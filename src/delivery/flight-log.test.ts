import assert from "node:assert/strict"
import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
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
