// What the page is told of the log: whole lines, from files that are cut, grow and are moved on meanwhile.
import assert from "node:assert/strict"
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
