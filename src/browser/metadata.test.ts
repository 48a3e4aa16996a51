// Metadata services of clouds, asked for by pages: on a machine of its own, where their addresses lead to listeners that count.
import assert from "node:assert/strict"
import { execFile, spawnSync } from "node:child_process"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const program = fileURLToPath(new URL("../../test/support/metadata-machine.ts", import.meta.url))
const addresses = ["169.254.169.254/32", "fd00:ec2::254/128", "198.51.100.7/32"]
const inside = (command: string) => [
  "--net",
  "--map-root-user",
  "sh",
  "-c",
  [
    "ip link set lo up",
    ...addresses.map((address) => `ip address add ${address} dev lo${address.includes(":") ? " nodad" : ""}`),
    command,
  ].join(" && "),
]
const canHave = spawnSync("unshare", inside("true")).status === 0

test(
  "A13: not a byte reaches a metadata service from a page, over http and https, under any name, in every policy",
  { skip: canHave ? false : "no network namespace can be made here (unshare, ip)", timeout: 120_000 },
  async () => {
    const run = promisify(execFile)("unshare", inside('exec "$0" "$1"').concat(process.execPath, program))
    const { open, strict, direct, reachable } = JSON.parse((await run).stdout)
    assert.deepEqual(direct, ["169.254.169.254:443", "198.51.100.7:443", "fd00:ec2::254:443"])
    assert.deepEqual(reachable, ["198.51.100.7:443", "198.51.100.7:80"], "what may be reached is reached by all this")
    assert.deepEqual(
      [open, strict],
      [
        { came: [], opened: [] },
        { came: [], opened: [] },
      ],
    )
  },
)
