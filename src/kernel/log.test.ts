import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { createLog, listLogFiles } from "./log.ts"
import { createRedactor } from "./redact.ts"

const reasonToSkip =
  process.platform !== "linux" || process.getuid?.() !== 0
    ? "a file system of a fixed size can be mounted by root on Linux only"
    : false

test(
  "a full disk costs the lines of its time, which are counted, and the next one tells of them",
  { skip: reasonToSkip },
  (context) => {
    const folder = mkdtempSync(join(tmpdir(), "svc-test-log-"))
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", folder])
    context.after(() => {
      execFileSync("umount", ["-l", folder])
      rmdirSync(folder)
    })
    const { log, lost } = createLog({ folder: join(folder, "logs"), level: "info", redactor: createRedactor() })
    log.info("before")
    assert.throws(() => writeFileSync(join(folder, "filler"), Buffer.alloc(1024 * 1024)))
    for (let n = 0; n < 100; n += 1) log.info({ text: "x".repeat(200) }, "meanwhile")
    assert.ok(lost().file > 50)
    rmSync(join(folder, "filler"))
    log.info("after")
    const lines = readFileSync(join(folder, "logs", "gateway.log"), "utf8")
      .trimEnd()
      .split("\n")
    const whole = lines.flatMap((line) =>
      line.endsWith("}") ? [JSON.parse(line) as { msg: string; lines?: number }] : [],
    )
    assert.ok(lines.length - whole.length <= 1, "one may be cut where the space ended")
    assert.deepEqual(whole.at(-1)?.msg, "after")
    assert.equal(whole.find(({ msg }) => msg === "log lines lost")?.lines, lost().file)
  },
)

test("lines go on in a new file when the old one was removed or moved, and nowhere when the state folder was", () => {
  const home = join(temporaryFolder(), "state")
  const folder = join(home, "logs")
  const path = join(folder, "gateway.log")
  const { log } = createLog({ folder, level: "info", redactor: createRedactor(), lookEveryMs: 0 })
  const takings = [() => rmSync(path), () => renameSync(path, `${path}.old`), () => rmSync(folder, { recursive: true })]
  for (const [round, take] of takings.entries()) {
    log.info(`before ${round}`)
    take()
    log.info(`after ${round}`)
    assert.match(readFileSync(path, "utf8"), new RegExp(`^[^\\n]*after ${round}[^\\n]*\\n$`))
    assert.equal(statSync(path).mode & 0o777, 0o600)
  }
  renameSync(home, `${home}-away`)
  mkdirSync(home)
  log.info("away")
  assert.match(readFileSync(join(`${home}-away`, "logs", "gateway.log"), "utf8"), /"away"/)
  assert.deepEqual(readdirSync(home), [])
})

test("a console that takes no line is counted, and the file has them all", () => {
  const folder = temporaryFolder()
  const console = { write: () => false, colour: false, level: "info" as const }
  const { log, lost } = createLog({ folder, level: "info", redactor: createRedactor(), console })
  for (let n = 0; n < 5; n += 1) log.info("line")
  assert.deepEqual(lost(), { file: 0, console: 5 })
  assert.equal(readFileSync(join(folder, "gateway.log"), "utf8").trimEnd().split("\n").length, 5)
})

test("file and console have levels of their own, which may change", () => {
  const folder = temporaryFolder()
  const shown: string[] = []
  const console = { write: (line: string) => void shown.push(line), colour: false, level: "info" as const }
  const { log, setLevels } = createLog({ folder, level: "info", redactor: createRedactor(), console })
  const part = log.child({ part: "part" })
  const say = (round: string) => {
    for (const level of ["debug", "info", "error"] as const) part[level](`${level} ${round}`)
  }
  say("at first")
  setLevels("info", "error")
  say("of which little is shown")
  setLevels("error", "debug")
  say("of which all is shown")
  const kept = readFileSync(join(folder, "gateway.log"), "utf8").trimEnd().split("\n")
  const said = (lines: readonly string[]) =>
    lines.map((line) => /(?:debug|info|error) (?:at|of)[a-z ]+/.exec(line)?.[0])
  assert.deepEqual(said(kept), [
    "info at first",
    "error at first",
    "info of which little is shown",
    "error of which little is shown",
    "error of which all is shown",
  ])
  assert.deepEqual(said(shown), [
    "info at first",
    "error at first",
    "error of which little is shown",
    "debug of which all is shown",
    "info of which all is shown",
    "error of which all is shown",
  ])
})

test("moves a file that is long enough aside and keeps as many as it is told to", () => {
  const folder = temporaryFolder()
  const { log } = createLog({ folder, level: "info", redactor: createRedactor(), maxFileBytes: 200, keepFiles: 3 })
  for (let n = 0; n < 20; n += 1) log.info({ n }, "a line of some length")
  const files = listLogFiles(folder)
  assert.equal(files.length, 3)
  assert.match(readFileSync(files.at(-1) as string, "utf8"), /"n":19/)
})

test("keeps five files where nothing else is said, and one where that is said", () => {
  const filesLeft = (more: { keepFiles?: number }) => {
    const folder = temporaryFolder()
    const { log } = createLog({ folder, level: "info", redactor: createRedactor(), maxFileBytes: 200, ...more })
    for (let n = 0; n < 20; n += 1) log.info({ n }, "a line of some length")
    return listLogFiles(folder)
  }
  assert.equal(filesLeft({}).length, 5)
  const [only, ...others] = filesLeft({ keepFiles: 1 })
  assert.deepEqual(others, [])
  const text = readFileSync(only as string, "utf8")
  assert.ok(text.includes('"n":19') && text.length <= 200, text)
})

test("goes on in the file that is there, makes it private, and counts what it holds already", () => {
  const folder = temporaryFolder()
  const file = join(folder, "gateway.log")
  writeFileSync(file, `${"x".repeat(180)}\n`)
  chmodSync(file, 0o644)
  const { log } = createLog({ folder, level: "info", redactor: createRedactor(), maxFileBytes: 300, keepFiles: 2 })
  log.info("first")
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.match(readFileSync(file, "utf8"), /^x{180}\n\{"level":30,.*"first"\}\n$/)
  log.info("second")
  log.info("third")
  assert.equal(listLogFiles(folder).length, 2)
  assert.match(readFileSync(`${file}.1`, "utf8"), /^x/)
})

test("a folder of logs gives its log files alone, oldest first", () => {
  const folder = temporaryFolder()
  for (const name of ["gateway.log", "gateway.log.2", "gateway.log.10", "gateway.log.1", "gateway.log.old", "other"])
    writeFileSync(join(folder, name), "")
  const names = listLogFiles(folder).map((path) => path.slice(folder.length + 1))
  assert.deepEqual(names, ["gateway.log.10", "gateway.log.2", "gateway.log.1", "gateway.log"])
})

test("the console has the lines of its level and above, the file all of them", () => {
  const folder = temporaryFolder()
  const shown: string[] = []
  const console = { write: (text: string) => void shown.push(text), colour: false, level: "warn" as const }
  const { log, lost } = createLog({ folder, level: "info", redactor: createRedactor(), console })
  log.info("one")
  log.warn("two")
  log.error("three")
  assert.deepEqual(
    shown.map((line) => /(\w+)\n$/.exec(line)?.[1]),
    ["two", "three"],
  )
  assert.deepEqual(lost(), { file: 0, console: 0 })
  assert.equal(readFileSync(join(folder, "gateway.log"), "utf8").trimEnd().split("\n").length, 3)
})
