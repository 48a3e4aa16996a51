// What the page is told of the log: whole lines, from files that are cut, grow and are moved on meanwhile.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, test } from "node:test"
import { type LogQuery, readLog } from "./log-reader.ts"

let folder: string
const file = (suffix = "") => join(folder, `gateway.log${suffix}`)
const line = (msg: string, level = 30) => `${JSON.stringify({ level, time: 1, msg })}\n`
const read = (query: Partial<LogQuery> = {}) => {
  const { lines, ...page } = readLog(folder, { limit: 100, ...query })
  return { ...page, said: lines.map(({ msg }) => msg) }
}

beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "log-reader-"))))
afterEach(() => rmSync(folder, { recursive: true }))

test("a file that is read from its beginning keeps its first line, and the next question begins behind the last", () => {
  writeFileSync(file(), line("first") + line("second"))
  const { said, cursor, cut } = read()
  assert.deepEqual([said, cut], [["first", "second"], false])
  appendFileSync(file(), line("third"))
  assert.deepEqual(read({ after: cursor }).said, ["third"])
})

test("where the middle of a character begins what is read, the next question begins behind the last line all the same", () => {
  const first = line("\u{1f600}")
  // So long that all that is read begins in the middle of the one character of the first line.
  const left = Buffer.byteLength(first) - (Buffer.from(first).indexOf("\u{1f600}") + 2)
  writeFileSync(file(), `${first}${"y".repeat(2 * 1024 * 1024 - left - 1)}\n`)
  const { cursor } = read()
  appendFileSync(file(), line("new"))
  assert.deepEqual(read({ after: cursor }).said, ["new"])
})

test("nothing is lost when the file is moved on between two questions, and a line is told once it is whole", () => {
  writeFileSync(file(), `${line("first")}{"level":30,"time":1,`)
  const { said, cursor } = read()
  assert.deepEqual(said, ["first"])
  appendFileSync(file(), '"msg":"second"}\n')
  renameSync(file(), file(".1"))
  writeFileSync(file(), line("third"))
  const next = read({ after: cursor })
  assert.deepEqual([next.said, next.cut], [["second", "third"], false])
  assert.deepEqual(read({ after: next.cursor }).said, [])
})

test("nothing is lost while files are moved on during the question", async () => {
  const last = 150
  writeFileSync(file(), line("1"))
  const { cursor } = read()
  const rotate = `
    const { renameSync, writeFileSync } = require("node:fs")
    const file = ${JSON.stringify(file())}
    const idle = new Int32Array(new SharedArrayBuffer(4))
    for (let number = 2; number <= ${last}; number += 1) {
      for (let age = number - 2; age > 0; age -= 1) renameSync(file + "." + age, file + "." + (age + 1))
      renameSync(file, file + ".1")
      writeFileSync(file, JSON.stringify({ level: 30, time: 1, msg: String(number) }) + "\\n")
      Atomics.wait(idle, 0, 0, 3)
    }`
  const child = spawn(process.execPath, ["-e", rotate], { stdio: ["ignore", "ignore", "inherit"] })
  const ended = once(child, "exit")
  const said: unknown[] = []
  let after = cursor
  const ask = () => {
    const page = read({ after, limit: last })
    said.push(...page.said)
    after = page.cursor
  }
  while (child.exitCode === null) {
    ask()
    await new Promise((resolve) => setImmediate(resolve))
  }
  await ended
  ask()
  assert.deepEqual(
    said.map(Number),
    Array.from({ length: last - 1 }, (_, index) => index + 2),
  )
})

test("more than one question reads begins with the first whole line, and says that there is more", () => {
  const long = "x".repeat(1000)
  const count = 3000
  writeFileSync(file(), Array.from({ length: count }, (_, place) => line(`${place} ${long}`)).join(""))
  const { said, cursor, cut } = read({ limit: count })
  assert.equal(cut, true)
  assert.ok(said.length > 1500 && said.length < count, `${said.length} lines`)
  assert.deepEqual(
    said.map((text) => Number.parseInt(text, 10)),
    Array.from({ length: said.length }, (_, place) => count - said.length + place),
  )
  appendFileSync(file(), line("after all"))
  assert.deepEqual(read({ after: cursor }).said, ["after all"])
})

test("a cursor of a file that is gone begins anew and says that something may be missing", () => {
  writeFileSync(file(), line("here"))
  const { said, cut } = read({ after: "1.0" })
  assert.deepEqual([said, cut], [["here"], true])
})

test("a file of which more has come than one question reads is read to its end before the next one", () => {
  writeFileSync(file(), line("first"))
  const { cursor } = read()
  const long = "x".repeat(1000)
  appendFileSync(file(), Array.from({ length: 3000 }, (_, place) => line(`${place} ${long}`)).join(""))
  renameSync(file(), file(".1"))
  writeFileSync(file(), line("after all"))
  const told: string[] = []
  let after = cursor
  for (let questions = 0; questions < 3; questions += 1) {
    const page = read({ after, limit: 5000 })
    told.push(...page.said.map((text) => text.replace(` ${long}`, "")))
    after = page.cursor
  }
  assert.equal(told.length, 3001)
  assert.deepEqual([told[0], told[2999], told[3000]], ["0", "2999", "after all"])
})

test("lines are looked through by level and words, those that are no records included", () => {
  writeFileSync(
    file(),
    line("Quiet", 20) + line("usual") + "no record\n" + line("Loud words", 50) + "5\n" + line("odd", 35),
  )
  assert.deepEqual(read({ level: "warn" }).said, ["Loud words"])
  assert.deepEqual(read({ level: "info" }).said, ["usual", "no record", "Loud words", "5", "odd"])
  assert.deepEqual(read({ text: "LOUD" }).said, ["Loud words"])
  const newest = read({ limit: 2 })
  assert.deepEqual([newest.said, newest.cut], [["5", "odd"], true])
  const { lines } = readLog(folder, { limit: 100 })
  assert.deepEqual(
    lines.map(({ level }) => level),
    ["debug", "info", "info", "error", "info", "info"],
  )
})
