// What people do with conversations: find, read, take along, shorten and remove them, from the terminal and in the chat;
// agents that answer in the places they are bound to; and messages that come while the agent works.
import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { runProgram } from "../../cli/testing/run-program.ts"
import { text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { createWorld } from "../support/world.ts"

const key = "agent:main:main"

test("conversations are looked at, searched, exported, compacted and deleted; agents answer where they are bound", async (context) => {
  const world = await createWorld(context, {
    config: {
      agents: { list: [{ id: "main" }, { id: "home", name: "Homer" }] },
      messages: { queue: { mode: "collect" } },
    },
  })
  const ben = await world.addPerson({ firstName: "Ben" })
  world.configure({
    bindings: [{ agentId: "home", match: { channel: "chatapp", peer: { kind: "dm", id: ben.id } } }],
    channels: { chatapp: { allowFrom: [world.ada.id, ben.id] } },
  })
  const [slow, slowAgain] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  world.model.script(async (request) => {
    const prompt = lastPrompt(request)
    if (prompt.includes("Write the summary of both")) return text("Ada wants the Überfahrt on Friday.")
    if (prompt.includes("think long")) await slow.promise
    if (prompt.includes("think on")) await slowAgain.promise
    return text(`about ${prompt.includes("Queued #2") ? "both" : "it"} ${"tea ".repeat(900)}`)
  })
  await world.start()
  const svc = async (...words: string[]) => {
    const { code, stdout, stderr } = await runProgram(["sessions", ...words, "--state-dir", world.stateFolder])
    return { out: `${stdout}${code === 0 ? "" : stderr}`, err: stderr }
  }
  const said = world.say("Book the ferry to Lviv")
  await world.reply(/about it/, { after: said })
  const hello = world.say("hello from home", ben)
  await world.reply(/about it/, { after: hello, person: ben })
  for (const n of [1, 2, 3]) await world.reply(/about it/, { after: world.say(`more ${n} ${"x".repeat(3_000)}`) })

  const people = await world.gateway.call<{ shared: string[] }>("GET", "/api/pairing/chatapp")
  assert.deepEqual(people.shared, [], "they are bound to different agents, and share nothing")
  assert.match((await svc()).out, /agent:main:main +main [^]*/)
  assert.match((await svc("list", "--agent", "home")).out, /agent:home:main/)
  assert.match((await svc("show", key, "--messages", "1")).out, /Conversation[^]*assistant, [^]*about it/)
  assert.match((await svc("search", "lviv", "ferry")).out, /agent:main:main user \d+\n {2}.*ferry to Lviv/)
  assert.equal((await svc("search", "nowhere")).out, "nothing found\n")
  assert.match((await svc("search", "")).err, /^error: text: must not be empty$/m)
  assert.match((await svc("show", "agent:main:nobody")).err, /There is no session[^]*svc sessions list/)
  const file = join(world.stateFolder, "out.jsonl")
  assert.match((await svc("export", key, "--format", "jsonl", "--out", file)).out, /8 messages written/)
  assert.equal(readFileSync(file, "utf8").trim().split("\n").length, 8)
  assert.match((await svc("export", key, "--out", file)).err, /it is there already/)
  const unknown = await svc("export", "nosuch", "--out", `${file}-of-nothing`)
  assert.match(unknown.err, /There is no session "nosuch"/)
  assert.equal(existsSync(`${file}-of-nothing`), false)
  assert.doesNotMatch((await svc("export", "nosuch")).out, /# Session/)
  assert.match((await svc("compact", key)).out, /4 messages are now shown to me as one summary/)
  assert.match((await svc("export", key)).out, /Book the ferry[^]*## Summary of what is above[^]*Überfahrt/)

  await world.reply(/nothing to compact yet/, { after: world.say("/compact") })
  const sent = await world.emulator.control.waitForMessage({
    chatId: world.ada.id,
    from: "bot",
    after: world.say("/export jsonl").message_id,
  })
  assert.match(sent.document?.file_name ?? "", /\.jsonl$/)
  await world.reconfigure({ channels: { chatapp: { mediaMaxMb: 0.0001 } } })
  await world.reply(/may have 0\.0001 MB here[^]*svc sessions export agent:main:main --format markdown/, {
    after: world.say("/export"),
  })

  await world.reply(/^collect: [^]*as configured/, { after: world.say("/queue") })
  await world.reply(/There is no option "cup"[^]*Modes: collect/, { after: world.say("/queue steer cup:3") })
  const set = world.say("/queue collect debounce:50ms cap:2 drop:old")
  await world.reply(/pause of 0.05 s\. At most 2 of a person wait/, { after: set })
  world.say("think long")
  await world.until("it thinks", () =>
    lastPrompt(world.model.requests.at(-1) as never).includes("think long") ? true : undefined,
  )
  const third = ["one", "two", "three"].map((word) => world.say(`wait ${word}`)).at(-1)
  await world.reply(/More than 2 messages of yours wait/, { after: third as never })
  slow.resolve()
  await world.reply(/about both/, { after: third as never })
  const collected = lastPrompt(world.model.requests.at(-1) as never)
  assert.match(collected, /1 message was dropped[^]*Queued #1[^]*wait two[^]*Queued #2[^]*wait three/)

  // Another choice counts from the next message on.
  await world.reply(/At most 9 of a person wait/, { after: world.say("/queue collect debounce:50ms cap:9 drop:old") })
  world.say("think on")
  await world.until("it thinks on", () =>
    lastPrompt(world.model.requests.at(-1) as never).includes("think on") ? true : undefined,
  )
  const last = ["four", "five", "six"].map((word) => world.say(`wait ${word}`)).at(-1)
  const waiting = "select 1 from job where kind = 'turn' and state = 'ready'"
  await world.until("all wait", () => (world.rows(waiting).length === 3 ? true : undefined))
  slowAgain.resolve()
  await world.reply(/about both/, { after: last as never })
  const all = lastPrompt(world.model.requests.at(-1) as never)
  assert.doesNotMatch(all, /dropped/)
  assert.match(all, /Queued #1[^]*wait four[^]*Queued #2[^]*wait five[^]*Queued #3[^]*wait six/)

  assert.match((await svc("delete", "agent:home:main")).err, /cannot be taken back[^]*--yes/)
  assert.match((await svc("delete", "agent:home:main", "--yes")).out, /deleted agent:home:main: 1 conversation/)
  assert.equal((await svc("search", "hello", "home")).out, "nothing found\n")
})
