import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, rmdirSync, writeFileSync } from "node:fs"
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

test("a console that takes no line is counted, and the file has them all", () => {
  const folder = temporaryFolder()
  const console = { write: () => false, colour: false, level: "info" as const }
  const { log, lost } = createLog({ folder, level: "info", redactor: createRedactor(), console })
  for (let n = 0; n < 5; n += 1) log.info("line")
  assert.deepEqual(lost(), { file: 0, console: 5 })
  assert.equal(readFileSync(join(folder, "gateway.log"), "utf8").trimEnd().split("\n").length, 5)
})

test("moves a file that is long enough aside and keeps as many as it is told to", () => {
  const folder = temporaryFolder()
  const { log } = createLog({ folder, level: "info", redactor: createRedactor(), maxFileBytes: 200, keepFiles: 3 })
  for (let n = 0; n < 20; n += 1) log.info({ n }, "a line of some length")
  const files = listLogFiles(folder)
  assert.equal(files.length, 3)
  assert.match(readFileSync(files.at(-1) as string, "utf8"), /"n":19/)
})
