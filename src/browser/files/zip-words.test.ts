import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { pathToFileURL } from "node:url"
import { crc32 } from "node:zlib"
import { temporaryFolder } from "../../../test/support/temporary.ts"

/** One member that is not packed. */
function archiveOf(body: Buffer): Buffer {
  const name = Buffer.from("a")
  const facts = Buffer.alloc(26)
  facts.writeUInt16LE(20, 0)
  facts.writeUInt32LE(crc32(body), 10)
  facts.writeUInt32LE(body.length, 14)
  facts.writeUInt32LE(body.length, 18)
  facts.writeUInt16LE(name.length, 22)
  const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), facts, name, body])
  const header = Buffer.concat([Buffer.from("PK\u0001\u0002\u0014\u0000"), facts, Buffer.alloc(14), name])
  const end = Buffer.alloc(22)
  end.write("PK\u0005\u0006")
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(header.length, 12)
  end.writeUInt32LE(local.length, 16)
  return Buffer.concat([local, header, end])
}

test("an archive of which the disk takes all but the last bytes is not taken for whole", () => {
  const [from, to] = [join(temporaryFolder(), "from.zip"), join(temporaryFolder(), "to.zip")]
  // What stands behind byte 512 is the second half of the last record.
  writeFileSync(from, archiveOf(Buffer.alloc(424, "x")))
  const file = JSON.stringify(pathToFileURL(join(import.meta.dirname, "zip-words.ts")).href)
  const source = `import { copyZipWithout } from ${file}
    await copyZipWithout(${JSON.stringify(from)}, ${JSON.stringify(to)}, ["a-secret-word"]).then(
      () => console.log("whole"),
      ({ code }) => console.log(code),
    )`
  const run = (limit: string) =>
    spawnSync(
      "/bin/sh",
      ["-c", `${limit} exec "$@"`, "sh", process.execPath, "--input-type=module", "--eval", source],
      {
        encoding: "utf8",
        env: {},
      },
    )
  assert.equal(run("").stdout, "whole\n")
  rmSync(to)
  // In blocks of 512 bytes, as POSIX has it for `sh`.
  const limited = run("ulimit -f 1;")
  assert.equal(limited.stdout, "EFBIG\n", limited.stderr)
})
