import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, it } from "node:test"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { loadConfigFile } from "./load.ts"

const writer = `
  import { setConfigValue } from ${JSON.stringify(fileURLToPath(new URL("./write-back.ts", import.meta.url)))}
  for (let port = 2; ; port = (port % 60000) + 1) {
    setConfigValue({ path: process.argv[1], env: {}, key: "gateway.port", value: port })
    if (port === 3) console.log("writing")
  }
`

describe("a writer that is killed", () => {
  it("leaves a whole file of mode 600 behind, wherever it was", async () => {
    const folder = mkdtempSync(join(tmpdir(), "svc-kill-"))
    const path = join(folder, "svc.json")
    try {
      const filler = "x".repeat(20_000)
      writeFileSync(
        path,
        JSON.stringify({ gateway: { port: 1 }, agents: { defaults: { heartbeat: { prompt: filler } } } }),
      )
      for (let round = 0; round < 6; round += 1) {
        const child = spawn(process.execPath, ["--input-type=module", "-e", writer, path], {
          stdio: ["ignore", "pipe", "inherit"],
        })
        const exit = once(child, "exit")
        await once(child.stdout, "data")
        // The kill must fall at a place that nobody chose; the wait is what is random here, not what is awaited.
        await delay(Math.random() * 60)
        child.kill("SIGKILL")
        await exit
        const result = loadConfigFile({ path, env: {} })
        assert.ok(result.kind === "ok" && result.snapshot.config.agents.defaults.heartbeat.prompt === filler)
        assert.equal(statSync(path).mode & 0o777, 0o600)
        for (const name of readdirSync(folder).filter((entry) => entry.includes(".bak"))) {
          if (!name.endsWith(".tmp")) JSON.parse(readFileSync(join(folder, name), "utf8"))
        }
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
