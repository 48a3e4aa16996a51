// `svc service` from install to uninstall, under a real systemd of a user, with the gateway as it is shipped; and what it
// writes, judged by systemd's own verifier.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { once } from "node:events"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { runProgram } from "../../cli/testing/run-program.ts"
import { renderUnit } from "../../src/service/unit.ts"
import { temporaryFolder } from "../support/temporary.ts"
import { startUserManager, whyNoUserManager } from "../support/user-manager.ts"

const program = fileURLToPath(new URL("../../dist/svc.cjs", import.meta.url))
const noManager = whyNoUserManager()
const noVerifier = spawnSync("systemd-analyze", ["--version"]).status === 0 ? undefined : "systemd is not installed"

/** A port with a free one two above it, for the browser's control service. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, "close")
  return port
}

test("systemd's own verifier has nothing to say about the units", { skip: noVerifier }, () => {
  // Names that would end a word, begin a variable or a specifier.
  const folder = join(temporaryFolder(), `a b%h$HOME"q'\\`)
  mkdirSync(folder)
  const plan = {
    name: "svc",
    home: folder,
    node: process.execPath,
    program,
    stateFolder: join(folder, ".svc"),
    configPath: join(folder, "other.json"),
    writable: [join(folder, "more of it")],
  }
  for (const scope of ["user", "system"] as const) {
    for (const chromiumSandbox of ["namespaces", "setuid"] as const) {
      const file = join(folder, "svc.service")
      writeFileSync(
        file,
        renderUnit({ ...plan, scope, user: scope === "system" ? "daemon" : undefined, chromiumSandbox }),
      )
      const mode = scope === "user" ? ["--user"] : []
      const result = spawnSync("systemd-analyze", ["verify", "--man=no", "--recursive-errors=no", ...mode, file], {
        encoding: "utf8",
        env: { ...process.env, XDG_RUNTIME_DIR: folder },
      })
      assert.deepEqual([result.status, result.stderr], [0, ""], `${scope}, ${chromiumSandbox}`)
    }
  }
})

test(
  "a service is installed, told of, restarted, fails in the open and is removed, under a real systemd",
  {
    skip: noManager,
  },
  async (context) => {
    const manager = await startUserManager(context)
    const stateFolder = join(manager.home, ".svc")
    mkdirSync(stateFolder)
    const config = join(stateFolder, "svc.json")
    const port = await freePort()
    writeFileSync(config, JSON.stringify({ gateway: { port } }))
    const svc = (...words: string[]) => manager.run([process.execPath, program, "service", ...words])
    const unit = join(manager.home, ".config/systemd/user/svc.service")

    const installed = await svc("install")
    assert.equal(installed.code, 0, installed.output)
    assert.match(
      installed.output,
      /wrote .*svc\.service\nstarting\n(.*\n)*ready: svc \d.*port \d+\nits log: journalctl --user -u svc/,
    )
    const running = JSON.parse((await svc("status", "--json")).output) as Record<string, unknown>
    const { ready, enabled, active, restarts, pid } = running
    assert.deepEqual(
      { ready, enabled, active, restarts },
      { ready: true, enabled: true, active: "running", restarts: 0 },
    )
    const again = await svc("install")
    assert.match(again.output, /svc\.service is as it should be\nready/)

    const restarted = JSON.parse((await svc("restart", "--json")).output.replace(/^[^{]*/, "")) as { pid: number }
    assert.notEqual(restarted.pid, pid)
    process.kill(restarted.pid, "SIGKILL")
    const back = await svc("restart")
    assert.equal(back.code, 0, back.output)

    // Somebody breaks the configuration under it: told at once, with the place to look, and not after the whole time.
    writeFileSync(config, "{ gateway: { prot: 1 } }")
    const broken = await svc("restart", "--timeout", "300")
    assert.equal(broken.code, 1)
    assert.match(broken.output, /error: The service did not start: .*\n(.*\n)*hint: read on: journalctl --user -u svc/)
    assert.match(
      (await svc("install")).output,
      /error: The configuration .* has errors:\n.*prot: this key is not known/,
    )
    const status = await svc("status")
    assert.deepEqual([status.code, /ready +no/.test(status.output)], [1, true], status.output)

    const removed = await svc("uninstall")
    assert.equal(removed.code, 0, removed.output)
    assert.deepEqual([existsSync(unit), existsSync(config)], [false, true])
    assert.match((await svc("status")).output, /there is no service svc .* make it: \S+ service install/)

    mkdirSync(join(unit, ".."), { recursive: true })
    writeFileSync(unit, "[Service]\nExecStart=/bin/true\n")
    rmSync(config)
    assert.match(
      (await svc("install")).output,
      /error: .*svc\.service is there and was not written by svc\nhint: .*--force/,
    )
    assert.equal(readFileSync(unit, "utf8"), "[Service]\nExecStart=/bin/true\n")
  },
)

test("where systemd runs nothing, the next step is named", async () => {
  const environment = { HOME: temporaryFolder() }
  if (!existsSync("/run/systemd/system")) {
    const { code, stderr } = await runProgram(["service", "install"], { program, environment })
    assert.equal(code, 1)
    assert.match(stderr, /error: This machine does not run systemd\nhint: .*svc gateway/)
  }
  const wrong = await runProgram(["service", "install", "--user", "--system"], { program, environment })
  assert.match(wrong.stderr, /Take one of/)
  if (process.getuid?.() !== 0) return
  const words = "service install --system --run-as daemon --state-dir /srv/svc --dry-run --json".split(" ")
  const dry = await runProgram(words, { program, environment })
  const { content, file, commands } = JSON.parse(dry.stdout) as { content: string; file: string; commands: string[][] }
  assert.equal(file, "/etc/systemd/system/svc.service")
  assert.deepEqual(commands[1], ["systemctl", "enable", "svc.service"])
  assert.match(content, /\nUser=daemon\n(.*\n)*ReadWritePaths=.*"-\/srv\/svc"/)
  const shown = await runProgram(words.slice(0, -1), { program, environment })
  assert.ok(shown.stdout.includes(content), "as it would be written")
})
