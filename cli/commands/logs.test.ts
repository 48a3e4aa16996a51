import assert from "node:assert/strict"
import { once } from "node:events"
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test, type TestContext } from "node:test"
import { runProgram, startProgram } from "../testing/run-program.ts"

function line(n: number, more: object = {}): string {
  return `${JSON.stringify({ level: 30, time: "2026-01-02T03:04:05.678Z", msg: `line-${n}`, ...more })}\n`
}

function stateFolder(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "svc-logs-"))
  context.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, "logs"))
  const file = join(folder, "logs", "gateway.log")
  return { folder, file, environment: { SVC_STATE_DIR: folder } }
}

function numbers(text: string): number[] {
  return [...text.matchAll(/line-(\d+)/g)].map((match) => Number(match[1]))
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

test("prints the last lines across the files of the log, for people", async (context) => {
  const { file, environment } = stateFolder(context)
  writeFileSync(
    `${file}.10`,
    range(1, 5)
      .map((n) => line(n))
      .join(""),
  )
  writeFileSync(
    `${file}.2`,
    range(6, 10)
      .map((n) => line(n))
      .join(""),
  )
  writeFileSync(
    `${file}.1`,
    range(11, 15)
      .map((n) => line(n))
      .join(""),
  )
  writeFileSync(file, line(16, { part: "store", session: "s\u001b[31m" }))
  const result = await runProgram(["logs", "--limit", "8"], { environment })
  assert.deepEqual(numbers(result.stdout), range(9, 16))
  assert.equal(result.stdout.split("\n").at(-2), "03:04:05.678 info  store line-16 session=s\\x1b[31m")
  assert.deepEqual(numbers((await runProgram(["logs"], { environment })).stdout), range(1, 16))
})

test("--json prints the records as they are, and wraps what is none", async (context) => {
  const { file, environment } = stateFolder(context)
  writeFileSync(file, `${line(1)}plain words\n${line(2)}`)
  const result = await runProgram(["logs", "--json"], { environment })
  const records = result.stdout
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text) as { msg: string })
  assert.deepEqual(
    records.map(({ msg }) => msg),
    ["line-1", "plain words", "line-2"],
  )
})

test("--level counts only the lines of that level", async (context) => {
  const { file, environment } = stateFolder(context)
  writeFileSync(
    file,
    range(1, 100)
      .map((n) => line(n, { level: n % 10 === 0 ? 40 : 30 }))
      .join(""),
  )
  const result = await runProgram(["logs", "--level", "warn", "--limit", "3"], { environment })
  assert.deepEqual(numbers(result.stdout), [80, 90, 100])
})

test("--max-bytes leaves out the line that it cuts, and no other", async (context) => {
  const { file, environment } = stateFolder(context)
  writeFileSync(file, line(1) + line(2) + line(3))
  const twoLines = (line(2) + line(3)).length
  const exact = await runProgram(["logs", "--max-bytes", String(twoLines)], { environment })
  assert.deepEqual(numbers(exact.stdout), [2, 3])
  const less = await runProgram(["logs", "--max-bytes", String(twoLines - 1)], { environment })
  assert.deepEqual(numbers(less.stdout), [3])
})

test("says that there is no log", async (context) => {
  const { environment, folder } = stateFolder(context)
  const result = await runProgram(["logs"], { environment })
  assert.equal(result.code, 1)
  assert.ok(result.stderr.includes(join(folder, "logs")))
})

test("--follow goes on through several rotations without losing or repeating a line", async (context) => {
  const { file, environment } = stateFolder(context)
  writeFileSync(file, line(1) + line(2).slice(0, 20))
  const running = startProgram(["logs", "--follow"], { environment })
  await running.printed("line-1\n")
  appendFileSync(file, line(2).slice(20))
  await running.printed("line-2\n")
  // Faster than the program looks: two rotations between two looks.
  appendFileSync(file, line(3))
  renameSync(file, `${file}.1`)
  writeFileSync(file, line(4))
  renameSync(`${file}.1`, `${file}.2`)
  renameSync(file, `${file}.1`)
  writeFileSync(file, line(5))
  await running.printed("line-5\n")
  // The file that is open is rotated out altogether.
  rmSync(`${file}.2`)
  rmSync(`${file}.1`)
  appendFileSync(file, line(6))
  rmSync(file)
  writeFileSync(file, line(7))
  await running.printed("line-7\n")
  running.child.kill("SIGINT")
  const result = await running.ended
  assert.equal(result.code, 0)
  assert.deepEqual(numbers(result.stdout), range(1, 7))
})

test("--follow misses no file of a log that rotates while it looks", async (context) => {
  const { file, environment } = stateFolder(context)
  writeFileSync(file, line(1))
  const running = startProgram(["logs", "--follow"], { environment })
  await running.printed("line-1\n")
  const last = 150
  for (let number = 2; number <= last; number += 1) {
    for (let age = number - 2; age > 0; age -= 1) renameSync(`${file}.${age}`, `${file}.${age + 1}`)
    renameSync(file, `${file}.1`)
    writeFileSync(file, line(number))
  }
  await running.printed(`line-${last}\n`)
  running.child.kill("SIGINT")
  assert.deepEqual(numbers((await running.ended).stdout), range(1, last))
})

test("--follow waits for a log that does not exist yet", async (context) => {
  const { file, environment } = stateFolder(context)
  const running = startProgram(["logs", "--follow", "--json"], { environment })
  await running.printed("waiting for a log", "stderr")
  writeFileSync(file, line(1))
  assert.equal(await running.printed("line-1"), line(1))
  running.child.kill("SIGINT")
  assert.equal((await running.ended).code, 0)
})

test("ends quietly when its reader goes away", async (context) => {
  const { file, environment } = stateFolder(context)
  writeFileSync(file, line(1))
  const running = startProgram(["logs", "--follow"], { environment })
  await running.printed("line-1")
  running.child.stdout?.destroy()
  appendFileSync(file, line(2))
  const [code] = (await once(running.child, "exit")) as [number]
  assert.equal(code, 0)
  assert.equal((await running.ended).stderr, "")
})
