// `svc setup` as a person has it: on a terminal, with the platform's emulator, a model server and the real gateway; then
// again, to change one thing; and without a terminal.
import assert from "node:assert/strict"
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { startEmulator } from "../../emulator/index.ts"
import { freePort } from "../../test/support/gateway.ts"
import { startModelServer } from "../../test/support/model-server/index.ts"
import { type PseudoTerminal, openPseudoTerminal } from "../../test/support/pseudo-terminal.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { inherited, runProgram, testedProgram } from "../testing/run-program.ts"

const goodKey = "sk-right-0123456789abcdef0123456789"
const keyRefused = { kind: "status", status: 401, message: "Incorrect API key provided" } as const
const badKey = "sk-wrong-0123456789abcdef0123456789"

async function open(context: TestContext) {
  const folder = temporaryFolder()
  const stateFolder = join(folder, "state")
  const [emulator, model] = await Promise.all([startEmulator({ seed: 1 }), startModelServer()])
  context.after(() => Promise.all([emulator.stop(), model.stop()]))
  model.reply("hello from the model")
  const environment = {
    HOME: folder,
    SVC_RUNTIME_DIR: join(folder, "run"),
    SVC_GATEWAY_PORT: String(await freePort()),
    // A Node that warns of nothing, so that a screen holds our words only.
    NODE_NO_WARNINGS: "1",
  }
  const read = (name: string) => readFileSync(join(stateFolder, name), "utf8")
  const terminal = (...words: string[]) =>
    openPseudoTerminal([process.execPath, testedProgram, "setup", "--state-dir", stateFolder, ...words], {
      environment: { ...inherited(), ...environment },
    })
  return { stateFolder, emulator, model, environment, read, terminal }
}

/** What is waited for, and what is typed then. */
async function converse(screen: PseudoTerminal, lines: readonly [shown: string, typed?: string][]): Promise<void> {
  for (const [shown, typed] of lines) {
    await screen.shows(shown)
    if (typed !== undefined) screen.type(typed)
  }
}

test("from nothing to the first answer in the chat, with wrong answers asked again; then one thing is changed", async (context) => {
  const { stateFolder, emulator, model, read, terminal } = await open(context)
  const ann = emulator.control.addUser({ firstName: "Ann\u001b[2J" })
  const eve = emulator.control.addUser({ firstName: "Eve" })
  emulator.control.sendText({ userId: eve.id, text: "is anybody there?" })
  const first = terminal("--api-root", emulator.url, "--model-url", model.baseUrl)
  await first.shows("Number, provider, or provider/model")
  first.type("openia/gpt-5")
  await first.shows("Did you mean openai?")
  await first.shows("provider/model")
  model.enqueue(keyRefused)
  first.type("openai/gpt-5")
  await first.shows("Key of openai")
  model.enqueue(keyRefused)
  first.type(badKey)
  await first.shows("Key of openai")
  first.type(goodKey)
  await first.shows("openai/gpt-5 works")
  await first.shows("Token of the bot")
  first.type("@some_bot")
  await first.shows("looks like the name of the bot")
  await first.shows("Token of the bot")
  first.type("123456789:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
  await first.shows("does not know this token")
  await first.shows("Token of the bot")
  first.type(emulator.token)
  await first.shows("May the agent use a browser")
  first.type("maybe")
  await first.shows('There is no browser at "maybe"')
  await first.shows("May the agent use a browser")
  first.type("n")
  await first.shows("Eve (id")
  await first.shows("Is that you")
  first.type("n")
  await first.shows("Waiting for another message")
  emulator.control.sendText({ userId: ann.id, text: "good morning" })
  await first.shows("good morning")
  await first.shows("Is that you")
  first.type("")
  await first.shows("Run it as a service of this machine")
  first.type("n")
  await first.shows("Starting the gateway")
  const wanted = { chatId: ann.id, from: "bot" as const, match: "hello from the model" }
  await emulator.control.waitForMessage(wanted, { timeoutMs: 60_000 })
  first.child.stdin?.write("\u0003")
  await first.ended
  assert.ok(model.requests.some(({ headers }) => headers["authorization"] === `Bearer ${goodKey}`))

  // What was typed as a secret is nowhere but in `.env`.
  for (const secret of [goodKey, badKey, emulator.token]) {
    assert.ok(!first.screen().includes(secret))
    assert.ok(!read("svc.json").includes(secret))
  }
  assert.ok(!first.screen().includes("\u001b[2J"), "a stranger's name cannot clear the screen")
  assert.ok(!first.screen().includes("t.me/"), "the bot of that name at the platform is another one")
  assert.equal(statSync(join(stateFolder, ".env")).mode & 0o777, 0o600)
  assert.match(read(".env"), new RegExp(`OPENAI_API_KEY=${goodKey}\nCHATAPP_BOT_TOKEN=${emulator.token}\n`))
  assert.match(read("svc.json"), new RegExp(`"allowFrom": \\[${ann.id}\\]`))

  const config = read("svc.json").replace("{", '{\n  // a comment of mine\n  "messages": { "responsePrefix": "mine" },')
  writeFileSync(join(stateFolder, "svc.json"), config)
  const again = terminal("--no-start")
  await again.shows("What is there")
  await again.shows("Model    openai/gpt-5")
  await again.shows(`Owner    ${ann.id}`)
  await again.shows("Change which?")
  again.type("modl")
  await again.shows("There is: model, bot, browser, owner")
  again.type("model")
  await again.shows("provider/model")
  again.type("offline")
  await again.shows("fixed commands")
  assert.equal(await again.ended, 0)
  assert.match(again.screen(), new RegExp(`Start it with: svc gateway --state-dir ${stateFolder}`))
  assert.equal(read("svc.json"), config.replace('"openai/gpt-5"', '"offline/commander"'))
})

test("an answer that cannot be is asked for again, each question by itself, and another address is offered", async (context) => {
  const { model, read, terminal } = await open(context)
  const screen = terminal()
  await converse(screen, [
    ["Number, provider, or provider/model", "ollama"],
    ["Name of the model at ollama", "two words"],
    ["a name without spaces"],
    ["Number, provider, or provider/model", "box/m"],
    ["Address of box", "nowhere"],
    ['"nowhere" is no address'],
    ["Address of box", "http://127.0.0.1:1/v1"],
    ["a: another address", "what?"],
    ["answer a, o or k"],
    ["a: another address", "a"],
    ["Address of box", model.baseUrl],
    ["box/m works"],
    ["Token of the bot", ""],
    ["May the agent use a browser", "n"],
    ["Run it as a service", "perhaps"],
    ["Please answer y or n"],
    ["Run it as a service"],
  ])
  screen.child.stdin?.write("\u0003")
  await screen.shows(/Stopped\. Everything else is set up; .*svc gateway/)
  assert.equal(await screen.ended, 130)
  assert.ok(!screen.screen().includes("Owner"), "without a bot nobody can own it")
  assert.ok(read("svc.json").includes(model.baseUrl))
})

test("Ctrl-C says what is kept, and the rest is asked next time, the service too", async (context) => {
  const { terminal } = await open(context)
  const first = terminal()
  await first.shows("Number, provider, or provider/model")
  first.type("offline")
  await first.shows("Token of the bot")
  first.child.stdin?.write("\u0003")
  await first.shows(/Stopped\. Answers that worked are kept; .*svc setup --state-dir/)
  assert.equal(await first.ended, 130)
  const second = terminal("--no-start", "--bot-token", "none")
  await second.shows("Model    offline/commander")
  await second.shows("May the agent use a browser")
  second.type("n")
  await second.shows("Run it as a service")
  second.type("")
  assert.equal(await second.ended, 0)
})

test("where no service can be installed the gateway starts in the terminal", async (context) => {
  const { stateFolder, environment } = await open(context)
  const words = ["--model", "offline", "--bot-token", "none", "--browser", "no", "--state-dir", stateFolder]
  // Without a PATH there is no systemctl either.
  const screen = openPseudoTerminal(["env", "PATH=/nowhere", process.execPath, testedProgram, "setup", ...words], {
    environment: { ...inherited(), ...environment },
  })
  await screen.shows("Run it as a service")
  screen.type("y")
  await screen.shows("The service could not be installed; everything else is set up")
  await screen.shows("Starting the gateway")
  await screen.shows(/gateway ready/)
  screen.child.stdin?.write("\u0003")
  await screen.ended
})

const isRoot = process.getuid?.() === 0

test("as root, names the option that agrees to a browser without its sandbox", { skip: !isRoot }, async (context) => {
  const { stateFolder, environment } = await open(context)
  const words = "setup --model offline --bot-token none --browser yes --state-dir".split(" ")
  const refused = await runProgram([...words, stateFolder], { environment })
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /hint: .*pass --no-browser-sandbox/)
})

test("without a terminal says what to pass, takes every answer as an option, and writes nothing that does not work", async (context) => {
  const { stateFolder, emulator, model, environment, read } = await open(context)
  const run = (...words: string[]) => runProgram(["setup", "--state-dir", stateFolder, ...words], { environment })
  const asked = await run("--model", "offline")
  assert.deepEqual([asked.code, asked.stdout], [2, ""])
  assert.match(asked.stderr, /no terminal/)
  assert.match(asked.stderr, /--bot-token <token\|none> --browser <yes\|no\|path> --owner <user id\|first\|none>/)
  assert.doesNotMatch(asked.stderr, /--model </)
  const empty = await run("--model", "offline", "--bot-token", "-", "--browser", "no", "--owner", "none")
  assert.equal(empty.code, 2)
  assert.match(empty.stderr, /standard input should hold the token, one a line; it holds 0/)

  const rest = ["--api-root", emulator.url, "--browser", "yes", "--no-browser-sandbox"]
  model.enqueue(keyRefused)
  const settled = ["--model", "openai/gpt-5", "--model-url", model.baseUrl, "--model-key", badKey]
  const refused = await run(...settled, "--bot-token", "none", "--browser", "no", "--json")
  assert.deepEqual([refused.code, existsSync(join(stateFolder, "svc.json"))], [1, false])
  assert.match(refused.stdout, /"model-failed"[^]*Pass --model-key <key>, or set OPENAI_API_KEY/)
  const wrong = await run(...settled.with(-1, goodKey), ...rest, "--bot-token", "12:x", "--owner", "none", "--json")
  assert.deepEqual([wrong.code, wrong.stderr.includes("openai/gpt-5 works")], [2, true])
  assert.match(
    (JSON.parse(wrong.stdout) as { error: { message: string } }).error.message,
    /looks like a token that is cut off/,
  )

  const done = await run(...rest, "--bot-token", emulator.token, "--owner", "4711", "--json")
  assert.deepEqual([done.code, done.stderr.includes(emulator.token)], [0, false])
  const report = JSON.parse(done.stdout) as { settings: Record<string, string>; changed: string[] }
  assert.deepEqual(report.changed, ["bot", "browser", "owner"])
  assert.deepEqual([report.settings["model"], report.settings["owner"]], ["openai/gpt-5", "4711"])
  assert.match(read("svc.json"), /"allowFrom": \[4711\][^]*"defaultProfile": "managed"/)

  // A second terminal, which has none of the variables.
  const models = await runProgram(["models", "test", "--state-dir", stateFolder], { environment })
  assert.equal(models.code, 0, models.stdout + models.stderr)
  assert.match(models.stdout, /key +accepted/)
})

test("a configuration with errors is left as it is", async () => {
  const folder = temporaryFolder()
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, "svc.json"), "{ gatewy: {} }")
  const words = ["setup", "--state-dir", folder, "--model", "offline", "--bot-token", "none", "--browser", "no"]
  const { code, stderr } = await runProgram(words)
  assert.equal(code, 1)
  assert.match(stderr, /gatewy/)
  assert.equal(readFileSync(join(folder, "svc.json"), "utf8"), "{ gatewy: {} }")
})
