import assert from "node:assert/strict"
import { once } from "node:events"
import { chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { type TestContext, describe, test } from "node:test"
import { freePort } from "../../test/support/gateway.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { runProgram } from "../../cli/testing/run-program.ts"
import { startStandIn } from "../../cli/testing/stand-in-gateway.ts"
import { findingTable } from "./contract.ts"
import { type DoctorOptions, applyFix, describeFix, examine } from "./doctor.ts"
import { lookAtClock, lookAtNode } from "./machine.ts"

function stateFolder(files: Record<string, string>): string {
  const folder = join(temporaryFolder(), "state")
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 })
  return folder
}

async function look(folder: string, more: Partial<DoctorOptions> = {}, env: Record<string, string> = {}) {
  const variables = { SVC_STATE_DIR: folder, HOME: folder, PATH: process.env["PATH"], ...env }
  const signal = AbortSignal.timeout(10_000)
  const findings = await examine({
    variables,
    nodeVersion: process.versions.node,
    gateway: undefined,
    signal,
    lookMs: 30_000,
    ...more,
  })
  return { findings, codes: findings.map(({ code }) => code), variables }
}

const quiet = { channels: { chatapp: { enabled: false } }, browser: { enabled: false } }

/** With rows of each kind that waits for a person. */
function fillStore(folder: string): void {
  const database = new DatabaseSync(join(folder, "svc.db"))
  database.exec("create table outbox (state text, created_at int); create table job (state text, created_at int)")
  const insert = database.prepare("insert into outbox values (?, ?)")
  for (const [state, age] of [
    ["dead", 0],
    ["uncertain", 0],
    ["dead", 30],
    ["sent", 0],
  ] as const) {
    insert.run(state, Date.now() - age * 86_400_000)
  }
  database.prepare("insert into job values ('dead', ?)").run(Date.now())
  database.exec("create table filler (words text); create index filler_words on filler (words)")
  database.exec("begin")
  const filler = database.prepare("insert into filler values (?)")
  for (let row = 0; row < 2000; row += 1) filler.run(`some words of row ${row}`)
  database.exec("commit")
  database.close()
  chmodSync(join(folder, "svc.db"), 0o600)
}

describe("svc doctor", () => {
  test("says nothing about a good folder, and changes nothing in it", async () => {
    const folder = stateFolder({ "svc.json": JSON.stringify({ ...quiet, gateway: { port: await freePort() } }) })
    const before = readdirSync(folder)
    assert.deepEqual((await look(folder)).findings, [])
    assert.deepEqual(readdirSync(folder), before)
  })

  test("says of what there was no time for that there was none", async () => {
    const sandboxed = {
      ...quiet,
      gateway: { port: await freePort() },
      agents: { defaults: { sandbox: { mode: "all" } } },
    }
    const { findings } = await look(stateFolder({ "svc.json": JSON.stringify(sandboxed) }), { lookMs: 1 })
    const [unseen] = findings.filter(({ code }) => code === "check-failed")
    assert.match(unseen?.cause ?? "", /^sandbox: there was no time/)
    assert.equal(unseen?.command, "svc doctor")
  })

  test("works where there is nothing at all", async () => {
    const folder = join(temporaryFolder(), "not", "there")
    const { codes } = await look(folder, {}, { SVC_GATEWAY_PORT: String(await freePort()) })
    assert.ok(codes.includes("bot-missing"))
    assert.ok(!codes.includes("check-failed"))
    assert.ok(!existsSync(folder))
  })

  test("finds what is wrong with configuration, secrets, files and the store's folder, errors first", async (context: TestContext) => {
    const server = createServer().listen(0, "127.0.0.1")
    await once(server, "listening")
    context.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const config = {
      gateway: { port, bind: "lan", auth: { token: "short" } },
      channels: { chatapp: { botToken: "my-token", accounts: { two: { botToken: "${TWO}" } } } },
      agents: { defaults: { model: "openai/gpt-5" } },
      browser: { executablePath: "/nonexistent/browser", noSandbox: true, defaultProfile: "managd" },
    }
    const folder = stateFolder({
      "svc.json": JSON.stringify(config),
      "store.json": "{}",
      ".env": "A=1",
      "gateway-token": "x",
    })
    writeFileSync(join(folder, "gateway.json"), '{"pid": 4000000}', { mode: 0o600 })
    for (const name of [".env", "gateway-token"]) chmodSync(join(folder, name), 0o644)
    const { findings, codes } = await look(folder, { nodeVersion: "20.1.0" })
    const expected = [
      "node-old",
      "variable-missing",
      "secret-weak",
      "model-doubtful",
      "token-malformed",
      "owner-missing",
      "env-file",
      "file-open",
      "browser-missing",
      "config-doubtful",
      "port-taken",
      "lock-stale",
      "store-missing",
      "bind-open",
    ]
    for (const code of expected)
      assert.ok(codes.includes(code as (typeof codes)[number]), `${code}: ${codes.join(" ")}`)
    const severities = findings.map(({ severity }) => severity)
    assert.deepEqual(
      severities,
      [...severities].sort((a, b) => order.indexOf(a) - order.indexOf(b)),
    )
    assert.ok(!JSON.stringify(findings).includes("my-token"))
    assert.match(findings.find(({ code }) => code === "variable-missing")?.cause ?? "", /TWO.*\.env/)
  })

  test("tells of an error of the file with its place, and goes on with the rest", async () => {
    const folder = stateFolder({ "svc.json": "{ gatewy: {} }", "store.json": "{}" })
    const { findings, codes } = await look(folder)
    assert.match(
      findings.find(({ code }) => code === "config-invalid")?.cause ?? "",
      /svc\.json:1:\d+: gatewy.*did you mean/,
    )
    assert.ok(codes.includes("store-missing"))
  })

  test("counts what waits in the store, and names the table that is damaged with the way out", async () => {
    const folder = stateFolder({ "svc.json": JSON.stringify({ ...quiet, gateway: { port: await freePort() } }) })
    fillStore(folder)
    const whole = await look(folder)
    assert.deepEqual(whole.findings.map(({ code, cause }) => `${code} ${cause}`).toSorted(), [
      "messages-dead One message was given up in the last seven days",
      "messages-in-doubt One message may not have arrived in the last seven days",
      "runs-dead One run has failed for good in the last seven days",
    ])
    const path = join(folder, "svc.db")
    const database = new DatabaseSync(path)
    const row = database.prepare("select rootpage from sqlite_schema where name = 'filler'").get()
    database.close()
    const bytes = readFileSync(path)
    bytes.fill(0xff, (Number(row?.["rootpage"]) - 1) * 4096, Number(row?.["rootpage"]) * 4096)
    writeFileSync(path, bytes)
    const { findings } = await look(folder)
    const damage = findings.find(({ code }) => code === "store-damaged")
    assert.match(damage?.cause ?? "", /table filler.*restore a backup/)
    assert.equal(damage?.command, "svc backup list")
  })

  test("tells of a folder in the place of the store, once, and of no way that would not lead out", async () => {
    const folder = stateFolder({ "svc.json": JSON.stringify({ ...quiet, gateway: { port: await freePort() } }) })
    mkdirSync(join(folder, "svc.db"), { mode: 0o755 })
    const { findings } = await look(folder)
    assert.deepEqual(
      findings.map(({ code }) => code),
      ["file-unreadable"],
    )
    assert.match(findings[0]?.cause ?? "", /svc\.db is a folder.*put svc\.db back or restore a backup/)
  })

  test("tells of a store that a newer release has made, and of nothing else in it", async () => {
    const folder = stateFolder({ "svc.json": JSON.stringify({ ...quiet, gateway: { port: await freePort() } }) })
    fillStore(folder)
    const database = new DatabaseSync(join(folder, "svc.db"))
    database.exec("create table kysely_migration (name text); insert into kysely_migration values ('9999-later')")
    database.exec("create table meta (key text, value text); insert into meta values ('madeBy', '\"9.9.9\"')")
    database.close()
    const { findings } = await look(folder)
    assert.deepEqual(
      findings.map(({ code, command }) => [code, command]),
      [["store-newer", "svc update"]],
    )
    assert.match(findings[0]?.cause ?? "", /schema 9999, this program knows \d+\)\. Install svc 9\.9\.9 or newer/)
  })

  test("tells what the running gateway says, and looks for no ports then", async () => {
    const folder = stateFolder({ "svc.json": JSON.stringify(quiet) })
    const problems = [{ part: "agent", problem: "no key", next: "svc models test" }]
    const { findings } = await look(folder, { gateway: { problems } })
    assert.deepEqual(findings, [
      { code: "gateway-problem", severity: "warning", cause: "agent: no key", command: "svc models test" },
    ])
  })

  test("tells of a gateway that gives no answer in words that fit the doctor, whose time cannot be changed", async (context: TestContext) => {
    const gateway = await startStandIn(() => undefined)
    context.after(() => gateway.stop())
    writeFileSync(join(gateway.stateFolder, "svc.json"), JSON.stringify(quiet), { mode: 0o600 })
    const { stdout } = await runProgram(["doctor", "--json"], { environment: gateway.environment })
    const { findings } = JSON.parse(stdout) as { findings: { code: string; cause: string; command?: string }[] }
    const found = findings.find(({ code }) => code === "gateway-problem")
    assert.match(found?.cause ?? "", /^gateway: no answer within \d+ ms/)
    assert.equal(found?.command, "svc logs")
  })

  test("calls a secret whose variable is missing missing, and not weak as well", async () => {
    const config = { ...quiet, gateway: { port: await freePort() }, hooks: { enabled: true, token: "${NO_SUCH}" } }
    const { codes } = await look(stateFolder({ "svc.json": JSON.stringify(config) }))
    assert.ok(codes.includes("variable-missing"), codes.join(" "))
    assert.ok(!codes.includes("secret-weak"), codes.join(" "))
  })

  test("compares the clock with that of the platform, and without one with the newest file", async (context: TestContext) => {
    const server = createServer((_request, response) => {
      response.setHeader("date", new Date(Date.now() + 3_600_000).toUTCString()).end()
    })
    server.listen(0, "127.0.0.1")
    await once(server, "listening")
    context.after(() => server.close())
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const signal = AbortSignal.timeout(5_000)
    assert.match((await lookAtClock("/nonexistent", address, signal))[0]?.cause ?? "", /60 minutes behind/)
    assert.deepEqual(await lookAtClock(stateFolder({ "svc.json": "{}" }), "http://127.0.0.1:1", signal), [])
  })

  test("knows an old Node.js", () => {
    assert.deepEqual(
      ["20.19.0", "22.17.9", "22.18.0", "24.0.0"].map((version) => lookAtNode(version).length),
      [1, 1, 0, 0],
    )
  })
})

const order = ["error", "warning", "note"]

describe("svc doctor --fix", () => {
  test("shows the difference, writes one key and keeps comments and the version before", async () => {
    const text =
      '{\n  // mine\n  browser: { defaultProfile: "managd", noSandbox: true }, // why\n  channels: { chatapp: { enabled: false } },\n}\n'
    const folder = stateFolder({ "svc.json": text })
    const path = join(folder, "svc.json")
    const { findings, variables } = await look(folder, {}, { SVC_GATEWAY_PORT: String(await freePort()) })
    const fix = findings.find(({ code }) => code === "config-doubtful")?.fix
    assert.ok(fix)
    assert.deepEqual(
      describeFix(fix, variables)
        .slice(1)
        .map((line) => line.slice(0, 40)),
      ['-   browser: { defaultProfile: "managd",', '+   browser: { defaultProfile: "managed"'],
    )
    assert.equal(readFileSync(path, "utf8"), text)
    applyFix(fix, variables)
    assert.equal(readFileSync(path, "utf8"), text.replace("managd", "managed"))
    assert.equal(readFileSync(`${path}.bak`, "utf8"), text)
  })

  test("mends one thing a time, and asks nobody who is not there", async () => {
    const folder = stateFolder({ "svc.json": JSON.stringify(quiet), ".env": "A=1\n" })
    chmodSync(join(folder, ".env"), 0o644)
    chmodSync(folder, 0o755)
    const run = (...words: string[]) => runProgram(["doctor", "--state-dir", folder, ...words])
    const refused = await run("--fix")
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /- mode 644\n\+ mode 600\n[^]*--yes/)
    const done = await run("--fix", "--yes", "--json")
    assert.equal((JSON.parse(done.stdout) as { fixed: string }).fixed, "env-file")
    assert.deepEqual([statSync(join(folder, ".env")).mode & 0o777, statSync(folder).mode & 0o777], [0o600, 0o755])
  })
})

test("the guide lists every finding as it is", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../docs/guides/doctor.md"), "utf8").replace(/ +/g, " ")
  for (const [code, { severity, meaning }] of Object.entries(findingTable)) {
    assert.ok(guide.includes(`| \`${code}\` | ${severity} | ${meaning} |`), code)
  }
})

test("tries the sandbox: one that cannot be made is told, with what it means and the command that mends it", async () => {
  const withMode = (mode?: string) =>
    JSON.stringify({ ...quiet, agents: { defaults: { sandbox: mode === undefined ? {} : { mode } } } })
  const without = { PATH: temporaryFolder() }
  const told = async (mode?: string) => {
    const { findings } = await look(stateFolder({ "svc.json": withMode(mode) }), {}, without)
    return findings.find(({ code }) => code === "sandbox-missing")
  }
  const unset = await told()
  assert.match(unset?.cause ?? "", /does not work here.*turns of strangers go without one/)
  assert.match(unset?.command ?? "", /bubblewrap/)
  assert.match((await told("all"))?.cause ?? "", /what it is wanted for is refused/)
  assert.equal(await told("off"), undefined)
})
