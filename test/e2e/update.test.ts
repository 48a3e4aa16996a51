// `svc update` between packed versions, with data: to a newer one, back from those that break, and back to the older one on
// the newer schema. The short form has the break that costs most, after the switch; npm run test:update has all of them.
import assert from "node:assert/strict"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { dirname, join } from "node:path"
import { type TestContext, test } from "node:test"
import { installPackage } from "../../scripts/release/package.ts"
import { addMigration, atGatewayStart, endBeforeReady, packVersion } from "../support/packed-versions.ts"
import { temporaryFolder } from "../support/temporary.ts"
import { rowsOf, until } from "../support/world.ts"

const isLong = process.env["SVC_LONG_TESTS"] !== undefined
const hookToken = "hook-token-of-the-update-test"
const expand = `await db.schema.alterTable("session").addColumn("later", "text").execute()
  await db.schema.createTable("later_thing").addColumn("id", "integer", (column) => column.primaryKey()).execute()`

class Installation {
  readonly folder = temporaryFolder()
  readonly prefix = join(this.folder, "prefix")
  readonly stateFolder = join(this.folder, "home", ".svc")
  readonly env: NodeJS.ProcessEnv
  port = 0

  constructor() {
    this.env = {
      PATH: `${join(this.prefix, "bin")}:${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: join(this.folder, "home"),
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      // What `svc update` has npm do needs no registry: everything is in the tarball.
      npm_config_offline: "true",
      npm_config_omit: "optional",
      npm_config_cache: join(this.folder, "npm"),
    }
  }

  async start(context: TestContext, tarball: string): Promise<void> {
    installPackage({ tarball, prefix: this.prefix, offline: true })
    mkdirSync(this.stateFolder, { recursive: true, mode: 0o700 })
    const server = createServer().listen(0, "127.0.0.1")
    await once(server, "listening")
    this.port = (server.address() as { port: number }).port
    server.close()
    await once(server, "close")
    this.configure({})
    // Where a service finds it, and the start on the copy too.
    writeFileSync(join(this.stateFolder, ".env"), `HOOK_TOKEN=${hookToken}\n`, { mode: 0o600 })
    const child = spawn("svc", ["gateway", "--quiet"], { env: this.env, cwd: "/", stdio: "ignore" })
    const ended = once(child, "exit")
    context.after(async () => {
      const { pid } = this.gateway() ?? {}
      if (pid !== undefined) process.kill(pid, "SIGKILL")
      child.kill("SIGKILL")
      await ended
    })
    await until("the gateway is ready", () => this.gateway())
  }

  configure(more: object): void {
    const config = {
      gateway: { port: this.port },
      browser: { enabled: false },
      hooks: { enabled: true, token: "${HOOK_TOKEN}" },
    }
    writeFileSync(join(this.stateFolder, "svc.json"), JSON.stringify({ ...config, ...more }))
  }

  gateway(): { pid: number; version: string } | undefined {
    const file = join(this.stateFolder, "gateway.json")
    return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as { pid: number; version: string }) : undefined
  }

  update(...words: string[]) {
    const options = { env: this.env, encoding: "utf8", cwd: "/" } as const
    return spawnSync("svc", ["update", "--background", ...words], options)
  }

  /** Ctrl-C as soon as the update says `words`. */
  async stopAt(words: string, ...more: string[]) {
    const child = spawn("svc", ["update", "--background", ...more], { env: this.env, cwd: "/" })
    const ended = once(child, "close")
    let stderr = ""
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      if (!stderr.includes(words) && (stderr + piece).includes(words)) child.kill("SIGINT")
      stderr += piece
    })
    const [status] = (await ended) as [number | null]
    return { status, stderr }
  }

  async accept(text: string): Promise<void> {
    const answer = await fetch(`http://127.0.0.1:${this.port}/hooks/wake`, {
      method: "POST",
      // Each time anew: what listened before may have been replaced.
      headers: { authorization: `Bearer ${hookToken}`, "content-type": "application/json", connection: "close" },
      body: JSON.stringify({ text, mode: "next-heartbeat" }),
    })
    assert.equal(answer.status, 200)
  }

  events(): string[] {
    return rowsOf<{ text: string }>(this.stateFolder, "select text from event order by id").map(({ text }) => text)
  }

  /** What an update leaves beside the program and in the state folder, whether it went well or not. */
  leftovers(): string[] {
    const modules = join(this.prefix, "lib", "node_modules")
    const inState = readdirSync(this.stateFolder).filter((name) => /update/.test(name))
    return [...readdirSync(modules).filter((name) => /beside|before/.test(name)), ...inState]
  }
}

interface Broken {
  name: string
  long: boolean
  tarball?: (version: string) => string
  prepare?: (installation: Installation) => void
  message: RegExp
  /** The running gateway is not touched. */
  before: boolean
}

const broken: Broken[] = [
  {
    name: "1: a backup that cannot be made",
    long: true,
    prepare(installation) {
      writeFileSync(join(installation.stateFolder, "a-file"), "")
      installation.configure({ backup: { folder: "a-file/backups" } })
    },
    message: /Step 1, the backup, did not pass/,
    before: true,
  },
  {
    name: "2: a package that is not whole",
    long: true,
    tarball: (version) => packVersion(version, (folder) => rmSync(join(folder, "dist", "svc.cjs"))),
    message: /Step 2, the installation beside, did not pass/,
    before: true,
  },
  {
    name: "3: a migration that fails",
    long: true,
    tarball: (version) =>
      packVersion(version, (folder) => addMigration(folder, "9001-later", `throw new Error("no such luck")`)),
    message: /Step 3, its migrations on a copy of the database, did not pass: .*no such luck/s,
    before: true,
  },
  {
    name: "4: a start on the copy that fails",
    long: true,
    tarball: (version) =>
      packVersion(version, (folder) =>
        atGatewayStart(folder, `if (process.argv.includes("--self-test")) throw new Error("not today")`),
      ),
    message: /Step 4, its start on the copy, did not pass: .*not today/s,
    before: true,
  },
  {
    name: "5: a start after the switch that fails, behind a migration",
    long: false,
    tarball: (version) =>
      packVersion(version, (folder) => {
        addMigration(folder, "9001-later", expand)
        endBeforeReady(folder)
      }),
    message: /Step 5, the switch, did not pass: .*\nhint: svc 1\.0\.0 is in place again and ready/s,
    before: false,
  },
]

/** As a kill between the switch and its end leaves it, beside a gateway that nobody's service runs. */
async function settlesWhatWasCutOff(installation: Installation): Promise<void> {
  const { pid } = installation.gateway() ?? {}
  const modules = join(installation.prefix, "lib", "node_modules")
  cpSync(join(modules, "svc-gateway"), join(modules, ".svc-gateway-before"), { recursive: true })
  const svc = (...words: string[]) => spawnSync("svc", words, { env: installation.env, encoding: "utf8", cwd: "/" })
  const back = svc("update", "--back")
  assert.equal(back.status, 1)
  assert.match(back.stderr, /runs in a terminal.*\nhint: .*svc update --back --background/)
  const keep = svc("update", "--keep")
  assert.deepEqual([keep.status, keep.stdout], [0, "the new version stays\n"], keep.stderr)
  assert.equal(installation.gateway()?.pid, pid)
  assert.deepEqual(
    installation.leftovers().filter((file) => !file.endsWith(".lock")),
    [],
  )
}

const timeout = isLong ? 600_000 : 180_000

test("an update brings all data along, and a broken one changes nothing that lasts", { timeout }, async (context) => {
  const old = packVersion("1.0.0")
  const installation = new Installation()
  await installation.start(context, old)
  await installation.accept("before everything")

  for (const { name, long, tarball, prepare, message, before } of broken) {
    if (long && !isLong) continue
    prepare?.(installation)
    const { pid } = installation.gateway() ?? {}
    const { status, stderr } = installation.update("--from", tarball?.("2.0.0") ?? old)
    assert.equal(status, 1, name)
    assert.match(stderr, message, name)
    const now = installation.gateway()
    assert.deepEqual([now?.version, now?.pid === pid], ["1.0.0", before], `${name}: ${stderr}`)
    assert.deepEqual(
      installation.leftovers().filter((file) => !file.endsWith(".lock")),
      [],
      name,
    )
    installation.configure({})
    await installation.accept(name)
  }
  const { pid } = installation.gateway() ?? {}
  const stopped = await installation.stopAt("2/5", "--from", old, "--force")
  assert.equal(stopped.status, 130, stopped.stderr)
  assert.match(stopped.stderr, /stopped in step 2, .*; nothing was changed: svc 1\.0\.0 goes on as before/)
  assert.equal(installation.gateway()?.pid, pid)
  await settlesWhatWasCutOff(installation)
  const kept = installation.events()
  assert.equal(kept.length, 1 + broken.filter(({ long }) => isLong || !long).length)
  const columns = () =>
    rowsOf<{ name: string }>(installation.stateFolder, "pragma table_info(session)").map(({ name }) => name)
  assert.ok(!columns().includes("later"), "the database is the one that the old version had left")

  if (!isLong) return
  const newer = packVersion("2.0.0", (folder) => addMigration(folder, "9001-later", expand))
  const updated = installation.update("--from", newer)
  assert.equal(updated.status, 0, updated.stderr)
  assert.match(updated.stderr, /1\/5 .*\n2\/5 .*\n3\/5 .*\n4\/5 .*\n5\/5 switching from 1\.0\.0 to 2\.0\.0/)
  assert.match(updated.stdout, /updated from 1\.0\.0 to 2\.0\.0 \(migrations: 9001-later\); it runs in the background/)
  assert.equal(installation.gateway()?.version, "2.0.0")
  assert.ok(columns().includes("later"))
  assert.deepEqual(installation.events(), kept)
  await installation.accept("by the new one")
  assert.match(installation.update("--from", newer).stdout, /svc 2\.0\.0 is what there is/)

  // The version before reads and writes what the newer one has migrated: expand first, contract later.
  const back = installation.update("--from", old)
  assert.equal(back.status, 0, back.stderr)
  assert.equal(installation.gateway()?.version, "1.0.0")
  await installation.accept("by the old one, on the newer schema")
  assert.equal(installation.events().length, kept.length + 2)
  assert.ok(columns().includes("later"))
})
