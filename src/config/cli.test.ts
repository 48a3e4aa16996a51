import assert from "node:assert/strict"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, it } from "node:test"
import { Command } from "commander"
import { type ConfigCommandIo, registerConfigCommands } from "./cli.ts"

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "svc-cli-"))
  path = join(folder, "svc.json")
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function run(...words: string[]) {
  return await runWith({}, ...words)
}

async function runWith(more: Partial<ConfigCommandIo>, ...words: string[]) {
  const result = { out: "", err: "", code: 0 }
  const program = new Command().exitOverride()
  registerConfigCommands(program, {
    stdout: (text) => void (result.out += text),
    stderr: (text) => void (result.err += text),
    env: { SVC_STATE_DIR: folder },
    exit: (code) => void (result.code = code),
    ...more,
  })
  await program.parseAsync(["config", ...words], { from: "user" })
  return result
}

describe("svc config", () => {
  it("does not load the schema before a command runs", () => {
    assert.doesNotMatch(readFileSync(new URL("./cli.ts", import.meta.url), "utf8"), /^import (?!type)/m)
  })

  it("sets JSON5 values, text, and text that looks like a number where text is wanted", async () => {
    await run("set", "gateway.port", "4000")
    await run("set", "channels.chatapp.allowFrom", "[1, '@x']")
    await run("set", "channels.chatapp.botToken", "123456:abc")
    const { code, out } = await run("set", "hooks.token", "987654")
    assert.deepEqual([code, out], [0, `hooks.token: set in ${path}\n`])
    assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), {
      gateway: { port: 4000 },
      channels: { chatapp: { allowFrom: [1, "@x"], botToken: "123456:abc" } },
      hooks: { token: "987654" },
    })
  })

  it("masks secrets unless asked to reveal them", async () => {
    writeFileSync(
      path,
      "{hooks: {token: 'SECRET-1'}, models: {providers: {x: {kind: 'openai', headers: {a: 'SECRET-2'}}}}}",
    )
    for (const words of [[], ["hooks"], ["hooks.token"], ["models.providers.x.headers.a"]]) {
      for (const json of [[], ["--json"]]) assert.doesNotMatch((await run("get", ...words, ...json)).out, /SECRET/)
    }
    assert.equal((await run("get", "hooks.token", "--reveal")).out, "SECRET-1\n")
    assert.equal((await run("get", "gateway.port", "--json")).out, "18789\n")
  })

  it("prints JSON where that is asked for, and text for people where not", async () => {
    writeFileSync(path, "{gateway: {bind: 'loopback'}}")
    const both = async (...words: string[]) => [(await run(...words)).out, (await run(...words, "--json")).out] as const
    assert.deepEqual(await both("get", "gateway.bind"), ["loopback\n", '"loopback"\n'])
    assert.deepEqual(await both("path"), [`${path}\n`, `${JSON.stringify({ ok: true, path, exists: true })}\n`])
    const [text, json] = await both("validate")
    assert.equal(text, `${path}: no errors\n`)
    assert.deepEqual(JSON.parse(json), { ok: true, files: [path], issues: [], warnings: [] })
    const set = JSON.parse((await run("set", "gateway.port", "4000", "--json")).out) as object
    assert.deepEqual(set, { ok: true, key: "gateway.port", files: [path] })
    assert.equal((await run("set", "gateway.port", "4000")).out, "gateway.port: nothing to change\n")
    const unset = JSON.parse((await run("unset", "gateway.port", "--json")).out) as object
    assert.deepEqual(unset, { ok: true, key: "gateway.port", files: [path] })
    assert.equal((await run("unset", "gateway.bind")).out, `gateway.bind: removed in ${path}\n`)
    rmSync(path)
    assert.equal((await run("validate")).out, `${path} does not exist; the defaults are used\n`)
    assert.match((await run("path", "--json")).out, /"exists":false/)
  })

  it("tells of a key that is known and not set from one that is not known", async () => {
    assert.match((await run("get", "hooks.token")).err, /^hooks\.token is not set\n/)
    assert.match((await run("get", "nonsense")).err, /no configuration key nonsense\ndocs\/reference\/config\.md/)
    const { error } = JSON.parse((await run("get", "nonsense", "--json")).out) as { error: { code: string } }
    assert.equal(error.code, "not-found")
  })

  it("takes for text what JSON5 has as a number that is none", async () => {
    await run("set", "messages.responsePrefix", "Infinity")
    assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), { messages: { responsePrefix: "Infinity" } })
  })

  it("helps with a key that does not exist", async () => {
    const result = await run("get", "browser.headles")
    assert.equal(result.code, 1)
    assert.match(result.err, /Did you mean headless/)
    const unknown = await run("set", "nonsense", "1")
    assert.equal(unknown.code, 1)
    assert.match(unknown.err, /nonsense: this key is not known[^]*hint: docs\/reference\/config\.md lists all keys/)
    const { error } = JSON.parse((await run("set", "nonsense", "1", "--json")).out) as { error: { hint: string } }
    assert.match(error.hint, /lists all keys/)
  })

  it("validates with line numbers and exit code 1", async () => {
    writeFileSync(path, "{\n gateway: {port: 0}}")
    const text = await run("validate")
    assert.equal(text.code, 1)
    assert.match(text.err, /svc\.json:2:18: gateway\.port: must be at least 1 \(found 0\)/)
    const json = JSON.parse((await run("validate", "--json")).out) as { ok: boolean; issues: { line: number }[] }
    assert.equal(json.ok, false)
    assert.equal(json.issues[0]?.line, 2)
    assert.equal((await run("unset", "gateway.port")).code, 0)
    assert.equal((await run("validate")).code, 0)
  })

  it("lists what others warn of behind what it validates, with its place, and leaves the exit code", async () => {
    writeFileSync(path, "{\n agents: {defaults: {model: 'a/b'}}}")
    const findWarnings = async ({ config }: { config: { agents: { defaults: { model: object } } } }) => [
      {
        path: ["agents", "defaults", "model"],
        message: `may not work: ${JSON.stringify(config.agents.defaults.model)}`,
      },
    ]
    const text = await runWith({ findWarnings }, "validate")
    assert.deepEqual([text.code, text.err], [0, ""])
    const [first, second] = text.out.trimEnd().split("\n")
    assert.match(first ?? "", /svc\.json: no errors$/)
    assert.match(second ?? "", /^warning: .*svc\.json:2:29: agents\.defaults\.model: may not work: \{"primary":"a\/b"/)
    const json = JSON.parse((await runWith({ findWarnings }, "validate", "--json")).out) as { warnings: object[] }
    const { file: _file, ...warning } = json.warnings[0] as { file: string }
    assert.deepEqual(warning, {
      line: 2,
      column: 29,
      path: "agents.defaults.model",
      message: 'may not work: {"primary":"a/b","fallbacks":[]}',
    })
    // Nobody can say what is wrong with the models of a file that is wrong itself.
    writeFileSync(path, "{gateway: {port: 0}}")
    assert.doesNotMatch((await runWith({ findWarnings }, "validate")).err, /may not work/)
  })

  it("warns of the key that was set, and of no other", async () => {
    const findWarnings = async () => [
      { path: ["gateway", "port"], message: "may not work" },
      { path: ["hooks", "token"], message: "is short" },
    ]
    const text = await runWith({ findWarnings }, "set", "gateway.port", "4000")
    assert.match(text.out, /: set in .*\nwarning: .*svc\.json:\d+:\d+: gateway\.port: may not work\n$/)
    const json = await runWith({ findWarnings }, "set", "hooks", "{token: 'abc'}", "--json")
    const { warnings } = JSON.parse(json.out) as { warnings: { path: string }[] }
    assert.deepEqual([json.code, warnings.map(({ path: key }) => key)], [0, ["hooks.token"]])
    assert.doesNotMatch((await runWith({ findWarnings }, "set", "messages.responsePrefix", "x")).out, /warning/)
  })

  it("refuses a change that would make the file invalid", async () => {
    const result = await run("set", "channels.chatapp.dmPolicy", "bogus", "--json")
    assert.equal(result.code, 1)
    assert.match(result.out, /config-invalid/)
  })

  it("prints the schema and the path", async () => {
    const schema = JSON.parse((await run("schema")).out) as { additionalProperties: boolean; properties: object }
    assert.equal(schema.additionalProperties, false)
    assert.ok("gateway" in schema.properties)
    assert.equal((await run("path")).out, `${path}\n`)
  })

  it("shows an example in the help of every command", () => {
    const program = new Command()
    registerConfigCommands(program, { stdout() {}, stderr() {}, env: {}, exit() {} })
    for (const command of program.commands[0]?.commands ?? []) {
      let help = ""
      command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp()
      assert.match(help, new RegExp(`Example:\\n {2}svc config ${command.name()}`))
      assert.match(help, /--json/)
    }
  })
})
