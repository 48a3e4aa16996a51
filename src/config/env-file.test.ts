import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { describe, it } from "node:test"
import { Command } from "commander"
import pino from "pino"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { createRedactor } from "../kernel/redact.ts"
import { registerConfigCommands } from "./cli.ts"
import { changeEnvFile, editEnvText, readEnvFile, secretsOf } from "./env-file.ts"
import { readEnvironment } from "./environment.ts"
import { createConfigHolder } from "./holder.ts"
import { formatIssue, loadConfigFile } from "./load.ts"

function stateFolder(files: Record<string, string>): string {
  const folder = temporaryFolder()
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text, { mode: 0o600 })
  return folder
}

function load(folder: string, env: Record<string, string> = {}, missingVariables: "refuse" | "leave-out" = "refuse") {
  return loadConfigFile({ path: join(folder, "svc.json"), env: { SVC_STATE_DIR: folder, ...env }, missingVariables })
}

const usesToken = '{ channels: { chatapp: { botToken: "${BOT_TOKEN}" } } }'

const isRoot = process.getuid?.() === 0
/** Users that own nothing here. */
const [nobody, somebody] = [65_534, 65_533]

/** What an ordinary user's program reads there, in a process that becomes that user once its program is loaded. */
function readAsNobody(folder: string): ReturnType<typeof readEnvFile> {
  const program = `const { readEnvFile } = await import(${JSON.stringify(import.meta.resolve("./env-file.ts"))})
    process.setuid(${nobody})
    process.stdout.write(JSON.stringify(readEnvFile(${JSON.stringify(folder)})))`
  const child = spawnSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" })
  assert.equal(child.status, 0, child.stderr)
  return JSON.parse(child.stdout) as ReturnType<typeof readEnvFile>
}

describe(".env of the state folder", () => {
  it("gives variables to the configuration; the environment wins over it, and it wins over the env section", () => {
    const config = '{ env: { A: "section", B: "section" }, messages: { responsePrefix: "${A} ${B} ${C}" } }'
    const folder = stateFolder({ "svc.json": config, ".env": "# mine\nA=file\nexport C='of file' # behind\n" })
    const prefix = (env: Record<string, string>) => {
      const result = load(folder, env)
      return result.kind === "ok" && result.snapshot.config.messages.responsePrefix
    }
    assert.equal(prefix({}), "file section of file")
    assert.equal(prefix({ A: "set", C: "" }), "set section of file")
  })

  it("of another user is not used, root's is", { skip: isRoot ? false : "only root can give files away" }, () => {
    const folder = stateFolder({ ".env": "TOKEN=planted\n" })
    const path = join(folder, ".env")
    chmodSync(folder, 0o755)
    chmodSync(path, 0o644)
    for (const [owner, isUsed] of [
      [somebody, false],
      [nobody, true],
      [0, true],
    ] as const) {
      chownSync(path, owner, owner)
      const { values, problem } = readAsNobody(folder)
      assert.deepEqual(values, isUsed ? { TOKEN: "planted" } : {}, `of user ${owner}`)
      assert.equal(problem?.kind, isUsed ? "readable" : "foreign")
    }
    chownSync(path, somebody, somebody)
    assert.equal(readEnvFile(folder).problem?.kind, "readable", "root reads everybody's")
  })

  it("has the variables that the product itself reads, but does not say where its own folder is", () => {
    const text =
      "CHATAPP_BOT_TOKEN=1:a\nOPENAI_API_KEY=k\nSVC_GATEWAY_PORT=4001\nSVC_STATE_DIR=/elsewhere\nHOME=/elsewhere\n"
    const folder = stateFolder({ ".env": text })
    const environment = readEnvironment({ SVC_STATE_DIR: folder, HOME: "/home/x" })
    const { chatappBotToken, gatewayPort, home } = environment
    assert.deepEqual(
      [chatappBotToken, environment.modelKey("openai"), gatewayPort, home],
      ["1:a", "k", 4001, "/home/x"],
    )
    assert.equal(environment.stateFolder, folder)
    // Processes that are started are not given them.
    assert.deepEqual(environment.variables, { SVC_STATE_DIR: folder, HOME: "/home/x" })
  })

  it("is used with a warning when others may read it, and not at all when others may write it", () => {
    const folder = stateFolder({ "svc.json": usesToken, ".env": "BOT_TOKEN=123456:abcdefghijkl\n" })
    const path = join(folder, ".env")
    assert.equal(readEnvFile(folder).problem, undefined)
    chmodSync(path, 0o644)
    assert.deepEqual([readEnvFile(folder).problem?.kind, load(folder).kind], ["readable", "ok"])
    assert.match(readEnvFile(folder).problem?.fix ?? "", /^chmod 600 .*\.env$/)
    chmodSync(path, 0o620)
    const refused = load(folder)
    assert.equal(refused.kind, "invalid")
    const said = refused.kind === "invalid" ? refused.issues.map(formatIssue).join() : ""
    assert.match(said, /BOT_TOKEN.* is not set or empty; .*\.env is not used: others may write it \(chmod 600 /)
  })

  it("is no reason to fail when it is a folder, a broken link or too large", () => {
    const folder = stateFolder({ "svc.json": "{}" })
    mkdirSync(join(folder, ".env"))
    assert.deepEqual([readEnvFile(folder).problem?.kind, load(folder).kind], ["unreadable", "ok"])
    const linked = stateFolder({ "svc.json": "{}" })
    symlinkSync("/nonexistent/x", join(linked, ".env"))
    assert.equal(load(linked).kind, "ok")
    const large = stateFolder({ "svc.json": "{}", ".env": `A=${"x".repeat(300_000)}` })
    assert.deepEqual([readEnvFile(large).problem?.kind, load(large).kind], ["unreadable", "ok"])
  })

  it("says with a missing variable where it may be written", () => {
    const folder = stateFolder({ "svc.json": usesToken })
    const result = load(folder)
    const said = result.kind === "invalid" ? result.issues.map(formatIssue).join() : ""
    assert.match(said, new RegExp(`BOT_TOKEN.*set it, or write it into ${join(folder, ".env")}`))
  })

  it("keeps its values out of every log", () => {
    const text =
      'BOT_TOKEN=123456:abcdefghijkl\nSOME="of a service"\nPASS=short7\nLANG=en_US.UTF-8\nSVC_GATEWAY_PORT=18789\nFLAG=on\n'
    const folder = stateFolder({ "svc.json": "{}", ".env": text })
    const result = load(folder)
    const redactor = createRedactor()
    for (const secret of result.kind === "ok" ? result.snapshot.secrets : []) redactor.add(secret)
    assert.equal(redactor.redact("123456:abcdefghijkl of a service short7"), "*** *** ***")
    assert.equal(redactor.redact("en_US.UTF-8 18789 on"), "en_US.UTF-8 18789 on")
    assert.deepEqual(secretsOf(readEnvFile(folder)).toSorted(), ["123456:abcdefghijkl", "of a service", "short7"])
  })

  it("is followed while the gateway runs", async (context) => {
    const folder = stateFolder({ "svc.json": "{}", ".env": "OPENAI_API_KEY=one\n" })
    const path = join(folder, "svc.json")
    const log = pino({ level: "silent" })
    const holder = createConfigHolder({
      path,
      env: { SVC_STATE_DIR: folder },
      stateFolder: folder,
      log,
      stabilityMs: 5,
      pollMs: 20,
    })
    context.after(() => holder.stop())
    const told = new Promise<string[]>((resolve) => holder.subscribe((changed) => resolve(changed)))
    changeEnvFile(folder, { OPENAI_API_KEY: "two" })
    assert.deepEqual(await told, ["env"])
    assert.equal(holder.snapshot().environment.modelKey("openai"), "two")
  })
})

describe("a change of .env", () => {
  it("makes the file, for its owner alone", () => {
    const folder = join(temporaryFolder(), "new")
    changeEnvFile(folder, { A_KEY: "x" })
    assert.equal(statSync(join(folder, ".env")).mode & 0o777, 0o600)
    assert.deepEqual(readEnvFile(folder).values, { A_KEY: "x" })
    assert.ok(!existsSync(join(folder, ".env.bak")))
  })

  it("keeps comments and other lines, replaces a variable once and removes one", () => {
    const before = "# first\nA=1\n\nexport  B = two # why\nA=3\nC=4"
    assert.equal(editEnvText("A=1\n", { A: "2" }), "A=2\n")
    assert.equal(editEnvText("A=1\n", { A: undefined }), "")
    assert.equal(editEnvText("", { A: "1" }), "A=1\n")
    assert.equal(editEnvText(before, { A: "9" }), "# first\n\nexport  B = two # why\nA=9\nC=4")
    assert.equal(editEnvText(before, { B: undefined, D: "5" }), "# first\nA=1\n\nA=3\nC=4\nD=5\n")
  })

  it("writes every value so that the same is read", () => {
    const folder = stateFolder({})
    for (const value of [
      "",
      "a b",
      "#x",
      "a#b",
      "it's",
      'say "x"',
      "a\\nb",
      "$HOME",
      "ünï",
      " x ",
      "`x`",
      "a=b",
      "c:\\x'y",
    ]) {
      changeEnvFile(folder, { A: value })
      assert.equal(readEnvFile(folder).values["A"], value, value)
    }
    for (const value of ["a\nb", "'\"`"])
      assert.throws(() => changeEnvFile(folder, { A: value }), { code: "bad-request" })
  })

  it("does not touch a line inside a value of several lines", () => {
    const text = "CERT='begin\nA=1\nend'\n"
    assert.throws(() => editEnvText(text, { A: "2" }), { code: "config-write-refused" })
  })
})

describe("a command that only looks", () => {
  async function run(folder: string, words: string) {
    const result = { out: "", err: "", code: 0 }
    const program = new Command().exitOverride()
    registerConfigCommands(program, {
      stdout: (text) => void (result.out += text),
      stderr: (text) => void (result.err += text),
      env: { SVC_STATE_DIR: folder },
      exit: (code) => void (result.code = code),
    })
    await program.parseAsync(["config", ...words.split(" ")], { from: "user" })
    return result
  }
  const config = `{
    gateway: { port: 4000 }, channels: { chatapp: { botToken: "\${BOT_TOKEN}" } },
    hooks: { enabled: true, token: "\${HOOK_TOKEN}", mappings: [{ action: "wake", textTemplate: "x", verify: { scheme: "github", secret: "\${S}" } }] },
    models: { providers: { box: { kind: "openai-compatible", baseUrl: "\${URL}" } } },
  }`

  it("does not need the variables of other keys, and names the one that it needs", async () => {
    const folder = stateFolder({ "svc.json": config })
    assert.deepEqual(await run(folder, "get gateway.port"), { out: "4000\n", err: "", code: 0 })
    const token = await run(folder, "get channels.chatapp.botToken")
    assert.deepEqual([token.out, token.code], ["", 1])
    assert.match(token.err, /BOT_TOKEN/)
    const whole = await run(folder, "get channels")
    assert.equal(whole.code, 0)
    assert.match(whole.err, /^left out: .*botToken.*BOT_TOKEN/)
    assert.equal((await run(folder, "validate")).code, 1)
  })

  it("keeps what stands beside a key that is left out, also where another one takes its section along", async () => {
    const folder = stateFolder({
      "svc.json": `{
        hooks: { enabled: true, token: "\${HOOK_TOKEN}", path: "/in" },
        models: { providers: { box: { kind: "openai-compatible", baseUrl: "\${URL}" }, other: { kind: "openai" } } },
        messages: { responsePrefix: "\${PREFIX}", removeAckAfterReply: true },
      }`,
    })
    assert.equal((await run(folder, "get messages.removeAckAfterReply")).out, "true\n")
    assert.equal((await run(folder, "get hooks.path")).out, "/in\n")
    assert.equal((await run(folder, "get models.providers.other.kind")).out, "openai\n")
  })

  it("or that changes another key needs them no more, but does not write a placeholder without its variable", async () => {
    const folder = stateFolder({ "svc.json": config })
    assert.equal((await run(folder, "set gateway.port 4001")).code, 0)
    assert.match(readFileSync(join(folder, "svc.json"), "utf8"), /port: 4001 .*\$\{BOT_TOKEN\}/)
    const refused = await run(folder, "set gateway.auth.token ${NOT_SET}")
    assert.equal(refused.code, 1)
    assert.match(refused.err, /NOT_SET/)
  })
})
