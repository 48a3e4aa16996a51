// `svc agent` from a terminal: the real program, a real gateway, a model that writes as slowly as it is told to.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { before, test } from "node:test"
import { type RunOptions, runProgram, startProgram } from "../../cli/testing/run-program.ts"
import type { ScriptedReply } from "../support/model-server/reply.ts"
import { text } from "../support/model-server/index.ts"
import { type World, createWorld, fileContext } from "../support/world.ts"

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)
const root = dirname(dirname(import.meta.dirname))
const program = join(root, "dist", "svc.cjs")
const context = fileContext()
let world: World
/** What the model says to a prompt that holds the word. */
const replies = new Map<string, ScriptedReply>()

before(async () => {
  execFileSync(process.execPath, [join(root, "scripts", "build.mjs"), "--if-changed"], { cwd: root })
  world = await createWorld(context, {
    config: { models: { providers: { test: { models: { small: { vision: true } } } } } },
  })
  world.model.script((request) => {
    const said = JSON.stringify(request.body["messages"] ?? [])
    const word = [...replies.keys()].findLast((each) => said.includes(each))
    return replies.get(word ?? "") ?? text("plain answer")
  })
  await world.start()
})

function options(): RunOptions {
  return { program, environment: { SVC_STATE_DIR: world.stateFolder, NO_COLOR: "1" } }
}

function agent(...words: string[]) {
  return runProgram(["agent", ...words], options())
}

interface Answer {
  runId: string
  session: string
  state: string
  text: string
}

async function asked(...words: string[]): Promise<Answer> {
  const { code, stdout, stderr } = await agent(...words, "--json")
  assert.equal(code, 0, stdout + stderr)
  return JSON.parse(stdout) as Answer
}

test("prints the answer while it is written, without tags and media lines, and each word once", async () => {
  const { promise: goOn, resolve } = Promise.withResolvers<void>()
  replies.set("alpha", { kind: "drip", text: "[[reply_to_current]]one two **three** four", everyMs: 20 })
  const running = startProgram(["agent", "alpha"], options())
  // The end is far away when the beginning stands there.
  const early = await running.printed("one")
  assert.ok(!early.includes("four"), early)
  resolve()
  await goOn
  const { code, stdout } = await running.ended
  assert.deepEqual([code, stdout], [0, "one two **three** four\n"])
})

test("keeps conversations apart, answers commands, and takes the same id once", async () => {
  const first = await asked("my cat is called Orbit", "--session", "notes", "--id", "once")
  assert.deepEqual([first.session, first.text], ["agent:main:terminal:notes", "plain answer"])
  const again = await asked("my cat is called Orbit", "--session", "notes", "--id", "once")
  assert.equal(again.runId, first.runId)
  const shown = await runProgram(["runs", "show", first.runId.slice(0, -4)], options())
  assert.match(shown.stdout, /^About +my cat is called Orbit$/m)
  const count = world.rows("select 1 from job where payload like '%Orbit%'").length
  assert.equal(count, 1)
  replies.set("what is it called", text("It is Orbit."))
  const sentOf = async (...words: string[]) => {
    await asked(...words)
    return world.model.requests.at(-1)?.promptText() ?? ""
  }
  assert.match(await sentOf("what is it called", "--session", "notes"), /Orbit/)
  assert.doesNotMatch(await sentOf("what is it called"), /Orbit/)
  assert.match((await asked("/status")).text, /Model|Session/)
  const fresh = await asked("/new and now this", "--session", "notes")
  assert.equal(fresh.text, "plain answer")
  assert.doesNotMatch(world.model.requests.at(-1)?.promptText() ?? "", /Orbit/)
})

test("shows pictures to the model, and says what is wrong with what is none", async () => {
  const path = join(world.stateFolder, "..", `terminal-picture-${process.pid}.png`)
  writeFileSync(path, png)
  await asked("look at this", "--picture", path)
  assert.ok(JSON.stringify(world.model.requests.at(-1)?.body).includes(png.toString("base64")))
  const notes = join(world.stateFolder, "notes.txt")
  writeFileSync(notes, "words")
  const wrong = [
    { words: ["x", "--picture", notes], says: `--picture ${notes}: is no picture` },
    { words: ["x", "--picture", "/does/not/exist.png"], says: "there is no such file" },
    { words: ["x", "--session", "agent:main:hook:orders"], says: "belongs to a guest or to a webhook" },
    { words: ["x", "--agent", "nobody"], says: "no agent named" },
    { words: ["  "], says: "There is nothing to say" },
    { words: ["-"], says: "Standard input was empty" },
  ]
  for (const { words, says } of wrong) {
    const { code, stdout, stderr } = await agent(...words)
    assert.ok(code !== 0 && stdout === "" && stderr.includes(says), `${words.join(" ")}: ${stdout}${stderr}`)
  }
})

test("goes on after the gateway was killed in the middle of the answer, and answers once", async () => {
  replies.set("gamma", { kind: "drip", text: "this is cut by the crash before its end", everyMs: 30 })
  const running = startProgram(["agent", "gamma", "--session", "crash"], options())
  await running.printed("this is")
  await world.gateway.kill("SIGKILL")
  replies.set("gamma", text("the whole answer"))
  await running.printed("the gateway is away", "stderr")
  await world.start()
  const { code, stdout } = await running.ended
  assert.equal(code, 0)
  assert.equal(stdout.split("the whole answer").length, 2, stdout)
  const [job] = world.rows<{ id: number; state: string }>("select id, state from job where payload like '%gamma%'")
  assert.equal(job?.state, "done")
  assert.equal(world.rows("select 1 from outbox where job_id = ?", job.id).length, 1)
})

test("stops the run with Ctrl-C, and a run that fails ends with 1 and the next step", async () => {
  replies.set("delta", { kind: "drip", text: "a long story without an end ".repeat(100), everyMs: 5 })
  const running = startProgram(["agent", "delta", "--session", "stopped"], options())
  await running.printed("a long")
  running.child.kill("SIGINT")
  const { code, stderr } = await running.ended
  assert.deepEqual([code, stderr.includes("stopped")], [130, true])
  await world.until("the run has ended", () => {
    const [job] = world.rows<{ state: string }>("select state from job where payload like '%delta%'")
    return job?.state === "running" ? undefined : true
  })
  replies.set("epsilon", { kind: "status", status: 400, message: "no such thing" })
  const failed = await agent("epsilon", "--session", "failed")
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /^error: The agent could not answer: [^\n]+\nhint: see: (npx )?svc runs show /m)
})
