// Chat commands against a whole gateway: typed, from a group, by a button; while the agent works, over a crash, and by
// people who may not. One gateway serves all tests but those of the configuration; each leaves it as it was.
import assert from "node:assert/strict"
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { before, beforeEach, describe, test } from "node:test"
import type { User } from "grammy/types"
import { text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { temporaryFolder } from "../support/temporary.ts"
import { createWorld, fileContext, until, writeRawConfig, type World } from "../support/world.ts"

const customCommands = [
  { command: "/Backup", description: "Back up now" },
  { command: "status", description: "not allowed" },
]
const config = {
  agents: { defaults: { maxConcurrent: 1, models: { "test/large": { alias: "big" } } } },
  channels: {
    chatapp: { allowFrom: [1001, "@bob"], groupPolicy: "open", groupAllowFrom: [1001], customCommands },
  },
}
const patience = { timeoutMs: 60_000 }
const world = await createWorld(fileContext(), { config })
const { control, bot } = world.emulator
const bob = await world.addPerson({ firstName: "Bob", username: "bob" })

async function ask(command: string, to: World = world, person = to.ada): Promise<string> {
  const sent = to.say(command, person)
  return (await to.reply(/./, { after: sent, person })).text ?? ""
}

/** What a command without its choice answers, and offers. */
async function choices(command: string): Promise<{ text: string | undefined; buttons: string[][] | undefined }> {
  const sent = world.say(command)
  const { text: words, reply_markup: markup } = await world.reply(/./, { after: sent })
  return { text: words, buttons: markup?.inline_keyboard.map((row) => row.map((button) => button.text)) }
}

function setting(name: string): unknown {
  const [row] = world.rows<{ settings: string }>(`select settings ${mainSession}`)
  return (JSON.parse(row?.settings ?? "{}") as Record<string, unknown>)[name]
}

const mainSession = "from session where key = 'agent:main:main'"
const sessionId = () => world.rows<{ session_id: string }>(`select session_id ${mainSession}`)[0]?.session_id

const registered = () => control.calls().filter((call) => call.method.endsWith("MyCommands"))

/** A model that begins the story and never ends it; resolves when it was asked for. */
function hangOn(words: string): Promise<void> {
  const asked = Promise.withResolvers<void>()
  world.model.script((request) => {
    if (!lastPrompt(request).endsWith(words)) return text("short")
    asked.resolve()
    return { kind: "hang" }
  })
  return asked.promise
}

control.fault({ kind: "429", method: "setMyCommands", retryAfter: 1 })
await world.start()

beforeEach(() => {
  world.model.requests.length = 0
  world.model.script(() => text("ok"))
})

test("registers the menu, in private chats and in groups, in spite of a 429", async () => {
  await until("the menu is registered", () => registered().filter((call) => call.ok).length === 2 || undefined)
  const names = (scope: Record<string, unknown>) => JSON.stringify(control.commands({ scope }))
  assert.match(names({ type: "default" }), /"status"[^]*"backup"/)
  assert.doesNotMatch(names({ type: "default" }), /activation|"config"|not allowed/)
  assert.match(names({ type: "all_group_chats" }), /activation/)
  assert.match(world.gateway.log(), /custom command skipped/)
  assert.equal(await ask("/backup everything"), "ok")
  const words = lastPrompt(world.model.requests[0] ?? assert.fail())
  assert.match(words, /\/backup everything$/, "an entry of the operator is a message")
})

test("answers every command of an owner in a private chat, without asking the model", async () => {
  assert.match(await ask("/help"), /\/commands lists all commands/)
  const all = await ask("/commands")
  for (const name of ["status", "reset", "new", "model", "whoami", "stop", "think", "reasoning"]) {
    assert.ok(all.includes(`/${name} `), name)
  }
  assert.ok(!all.includes("/config"), "switched off, so not listed")
  assert.match(await ask("/whoami"), /User id 1001[^]*Username @ada[^]*Standing owner/)
  assert.match(await ask("/status"), /Model test\/small, thinking default[^]*Messages 0 under way, 0 waiting/)
  assert.match(await ask("/stop"), /Nothing to stop/)
  assert.match(await ask("/think high"), /^The thinking level is high now\.$/)
  assert.equal(setting("thinking"), "high")
  assert.match(await ask("/t loud"), /^There is no such level\. The thinking level is high\.$/)
  assert.match(await ask("/think: default"), /^The thinking level is as configured again\.$/)
  assert.equal(setting("thinking"), undefined)
  assert.deepEqual(await choices("/think"), {
    text: "The thinking level is the model's own default.",
    buttons: [
      ["off", "minimal"],
      ["low", "medium"],
      ["high", "default"],
    ],
  })
  assert.match(await ask(`/reasoning@${bot.username} stream`), /while it thinks/)
  assert.equal(setting("reasoning"), "stream")
  assert.match(await ask("/reason ON"), /stands in front of its answers now/)
  assert.equal(setting("reasoning"), "on")
  assert.match(await ask("/reasoning loud"), /^There is no such choice\. Reasoning is on\.$/)
  assert.match(await ask("/REASONING off"), /not shown any more/)
  assert.deepEqual(await choices("/reasoning"), { text: "Reasoning is off.", buttons: [["on", "off"], ["stream"]] })
  assert.match(await ask("/activation always"), /works only in groups/)
  assert.match(await ask("/config show"), /switched off/)
  // The status asks whether its server answers at all.
  assert.deepEqual(
    world.model.requests.filter(({ method }) => method !== "HEAD"),
    [],
  )
})

test("a new session forgets what was said, keeps what was chosen, and goes on with the text behind the command", async () => {
  world.model.script((_request, n) => text(`answer ${n}`))
  await ask("/think low")
  assert.equal(await ask("my cat is called Momo"), "answer 1")
  assert.match(await ask("/reset"), /New session\. Model: test\/small/)
  assert.equal(setting("thinking"), "low")
  const sent = world.say("/new big what is my cat called?")
  await world.reply("New session. Model: test/large", { after: sent })
  await world.reply("answer 2", { after: sent })
  const request = world.model.requests[1] ?? assert.fail()
  assert.doesNotMatch(request.promptText(), /Momo|\/new/)
  assert.match(lastPrompt(request), /what is my cat called\?$/)
  assert.equal(request.body["model"], "large")
  await ask("/think default")
  await ask("/model default")
})

test("chooses among the allowed models, by name, alias and button, and refuses others", async () => {
  assert.match(await ask("/model list"), /→ test\/small\n• test\/large \(big\)/)
  assert.match(await ask("/model test/other"), /not in the allowed list[^]*Allowed: /)
  assert.match(await ask("/model BIG"), /From now on test\/large answers here/)
  const asked = world.say("/model")
  const menu = await world.reply("The model of this session is test/large", { after: asked })
  control.click({ userId: world.ada.id, messageId: menu.message_id, text: "Default" })
  await world.reply("From now on test/small answers here, as configured", { after: menu })
  assert.equal(world.model.requests.length, 0)
})

test("stop overtakes a long answer, drops what waits behind it, and leaves what comes after", async () => {
  const last = world.rows<{ id: number }>("select max(id) as id from job")[0]?.id ?? 0
  const asked = hangOn("a long story")
  world.say("a long story")
  await asked
  world.say("second")
  world.say("third")
  const stop = world.say("/stop")
  world.say("after the stop")
  await world.reply("Stopped. 2 waiting messages were dropped.", { after: stop })
  await world.reply("short", { after: stop })
  await world.settle()
  assert.deepEqual(world.model.requests.map((request) => lastPrompt(request).split("\n").at(-1)).slice(0, 2), [
    "a long story",
    "after the stop",
  ])
  const told = world.model.requests[1]?.promptText() ?? ""
  assert.match(told, /a long story[^]*\[Stopped here by the person/, "what was stopped is not forgotten")
  assert.doesNotMatch(told, /second|third/)
  const turns = world.rows<{ state: string }>("select state from job where kind = 'turn' and id > ? order by id", last)
  assert.deepEqual(
    turns.slice(0, 4).map(({ state }) => state),
    ["cancelled", "cancelled", "cancelled", "done"],
  )
})

test("a bare stop word stops only while something runs, and is a message else", async () => {
  const asked = hangOn("count to a million")
  assert.equal(await ask("wait"), "short")
  world.say("count to a million")
  await asked
  assert.equal(await ask("Wait"), "Stopped.")
})

test("somebody let in stops what their own chat has asked for, an owner whatever the session does", async () => {
  const asked = hangOn("a long story")
  world.say("a long story")
  await asked
  const his = world.say("me too", bob)
  const stop = world.say("/stop", bob)
  const told = await world.reply(/stop|dropped/, { after: stop, person: bob })
  assert.equal(told.text, "Nothing was under way. 1 waiting message was dropped.")
  const again = world.say("me again", bob)
  assert.equal(await ask("/stop"), "Stopped.")
  await world.reply("short", { after: again, person: bob })
  assert.deepEqual(world.botTexts(bob, his).filter((words) => words === "short").length, 1)
})

test("in a group only its listed senders command, others and other bots' commands are met with silence", async () => {
  world.model.script(() => text("model answer"))
  const eve = control.addUser({ firstName: "Eve" })
  const group = control.addChat({ type: "supergroup", title: "Crew", members: [world.ada.id, eve.id] })
  const forum = control.addChat({ type: "supergroup", title: "Forum", forum: true, members: [world.ada.id] })
  const topic = control.addTopic({ userId: world.ada.id, chatId: forum.id, name: "Plans" })
  const before = control.sendText({ userId: eve.id, chatId: group.id, text: "hi all" })
  for (const words of [
    "/status",
    "/activation always",
    `/reset@${bot.username}`,
    "/ｓtatus",
    "\u200b/status",
    "/whoami",
  ]) {
    control.sendText({ userId: eve.id, chatId: group.id, text: words })
  }
  control.sendText({ userId: world.ada.id, chatId: group.id, text: "/reset@another_bot" })
  control.sendText({ userId: world.ada.id, chatId: group.id, text: "/config show" })
  const asked = control.sendText({ userId: world.ada.id, chatId: group.id, text: `/activation@${bot.username} always` })
  const wait = { chatId: group.id, from: "bot" as const, after: asked.message_id }
  const answer = await control.waitForMessage({ ...wait, match: "I answer every message here now" }, patience)
  assert.equal(answer.reply_to_message?.message_id, asked.message_id)
  control.sendText({ userId: world.ada.id, chatId: group.id, text: "no mention here" })
  await control.waitForMessage({ ...wait, match: "model answer" }, patience)
  const said = control.messages({ chatId: group.id, after: before.message_id }).filter((each) => each.from?.is_bot)
  assert.deepEqual(
    said.map((each) => each.text).filter((words) => words !== "model answer"),
    [
      "/config is switched off. Set commands.config to true in the configuration file.",
      "I answer every message here now.",
    ],
  )
  const inTopic = control.sendText({
    userId: world.ada.id,
    chatId: forum.id,
    threadId: topic.threadId,
    text: "/status",
  })
  const status = await control.waitForMessage({ chatId: forum.id, from: "bot", after: inTopic.message_id }, patience)
  assert.equal(status.message_thread_id, topic.threadId)
  assert.match(status.text ?? "", /Activation as configured/, "each topic has its own session")
})

test("a command survives a kill between its acceptance and its answer, and is done once; the menu is not registered again", async () => {
  const menus = registered().length
  await world.gateway.kill("SIGTERM")
  const before = sessionId()
  const sent = world.say("/reset")
  await world.start({ crashAt: "ingest.committed" })
  await world.gateway.ended
  await world.start({ crashAt: "turn.beforeCommit" })
  await world.gateway.ended
  assert.equal(sessionId(), before)
  await world.start()
  await world.reply("New session.", { after: sent })
  await world.settle()
  assert.equal(world.botTexts(world.ada, sent).filter((words) => words.startsWith("New session.")).length, 1)
  assert.notEqual(sessionId(), before)
  assert.equal(registered().length, menus, "unchanged")
})

test("choices are listed where buttons are switched off, a menu that hangs delays nothing, and one without native commands is emptied", async () => {
  control.fault({ kind: "hang", method: "setMyCommands", times: 0 })
  const tried = registered().length
  world.configure({ channels: { chatapp: { capabilities: { inlineButtons: "off" }, customCommands: [] } } })
  await until("the menu is tried", () => registered().length > tried || undefined)
  assert.match(await ask("/think"), /The thinking level is the model's own default\.\n\/think off\n\/think minimal/)
  const asked = world.say("/reasoning")
  const answer = await world.reply("Reasoning is off", { after: asked })
  assert.equal(answer.reply_markup, undefined)
  world.configure({ commands: { native: "off" } })
  const cleared = () => registered().filter((call) => call.method === "deleteMyCommands" && call.ok).length
  await until("the menu is cleared", () => cleared() === 2 || undefined)
})

test("an owner looks inside and restarts the gateway where that is switched on, and nobody else does", async (context) => {
  const world = await createWorld(context)
  const bob = await world.addPerson({ firstName: "Bob", username: "bob" })
  world.configure({ channels: { chatapp: { allowFrom: [world.ada.id, "@bob"] } } })
  await world.start()
  const asking = (words: string, person = world.ada) => ask(words, world, person)
  assert.match(await asking("/restart"), /switched off. Set commands\.restart/)
  assert.match(await asking("/debug"), /switched off. Set commands\.debug/)
  assert.doesNotMatch(await asking("/commands"), /restart|debug/)
  await world.reconfigure({ commands: { restart: true, debug: true } })
  assert.match(await asking("/restart", bob), /Only owners/)
  assert.match(await asking("/debug", bob), /Only owners/)
  assert.match(await asking("/commands"), /\/debug[^]*\/restart/)
  const shown = JSON.parse(await asking("/debug")) as { session: string; jobs: object }
  assert.equal(shown.session, "agent:main:main")
  const { bootId } = await world.gateway.call<{ bootId: string }>("GET", "/api/status")
  const path = join(world.stateFolder, "svc.json")
  const good = readFileSync(path, "utf8")
  writeRawConfig(world.stateFolder, `${good.trimEnd().slice(0, -1)}, "hoks": {} }`)
  assert.match(await asking("/restart"), /does not restart: it would not come back[^]*hoks[^]*svc config validate/)
  writeRawConfig(world.stateFolder, good)
  assert.match(await asking("/restart"), /restarts now/)
  await until("the gateway is another", async () => {
    const now = await world.gateway.call<{ bootId: string }>("GET", "/api/status").catch(() => undefined)
    return now !== undefined && now.bootId !== bootId ? true : undefined
  })
  assert.match(await asking("/status"), /up less than a minute/)
})

describe("the configuration", () => {
  let world: World
  let bob: User
  const context = fileContext()
  const askHere = (command: string) => ask(command, world)

  before(async () => {
    world = await createWorld(context)
    bob = await world.addPerson({ firstName: "Bob" })
  })

  test("an owner reads and changes the configuration by chat; secrets, guarded keys and bad values stay out", async () => {
    const secret = "sk-very-secret-0123456789"
    writeRawConfig(
      world.stateFolder,
      `// kept comment
  {
    logging: { level: "debug" },
    commands: { config: true, bash: true },
    channels: { chatapp: { botToken: "${world.emulator.token}", apiRoot: "${world.emulator.url}", allowFrom: [1001] } },
    models: { providers: { test: { kind: "openai-compatible", baseUrl: "${world.model.baseUrl}", apiKey: "${secret}" } } },
    messages: { responsePrefix: "\${CHAT_PREFIX}" }, // from the environment
    agents: { defaults: { model: "test/small", heartbeat: { every: "0" } } },
    browser: { enabled: false },
  }
  `,
    )
    const environment = { CHAT_PREFIX: "bot:", OTHER_SECRET: "hidden-in-the-environment", PATH: temporaryFolder() }
    await world.start({ environment })
    assert.match(await askHere("/bash true"), /sandbox \(bubblewrap\) does not work here: .*bwrap\) is not installed/)
    const shown = await askHere("/config show")
    assert.match(shown, /"apiKey": "\*\*\*"/)
    assert.match(shown, /"botToken": "\*\*\*"/)
    assert.match(await askHere("/config get models.providers.test.apiKey"), /\*\*\*/)
    assert.match(await askHere("/config get channels.chatapp.linkPreview"), /true/)
    assert.match(await askHere("/config get channels.chatap"), /There is no configuration key/)

    assert.match(await askHere("/config set channels.chatapp.linkPreview=false"), /linkPreview set\. It is in effect/)
    assert.match(await askHere("/config get channels.chatapp.linkPreview"), /false/)
    assert.match(await askHere("/config set channels.chatapp.linkPreview false"), /nothing to change/)
    assert.match(await askHere(`/config set channels.chatapp.groups["-100.5"].requireMention=false`), / set\. /)
    assert.match(await askHere("/config set channels.chatapp.textChunkLimit=none"), /Nothing was written/)
    assert.match(await askHere("/config set channels.chatapp.linkPreview"), /value is missing/)
    for (const guarded of [
      `channels.chatapp.allowFrom=["*"]`,
      "hooks.token=x",
      "gateway.auth.token=x",
      "commands.useAccessGroups=false",
      `channels={"chatapp":{"allowFrom":["*"]}}`,
      "models.providers.test.apiKey=x",
    ]) {
      assert.match(await askHere(`/config set ${guarded}`), /cannot be changed from a chat/, guarded)
    }
    assert.match(await askHere("/config set __proto__.x=1"), /cannot be part of a configuration key/)
    for (const leak of ["${OTHER_SECRET}", '"\\u0024{OTHER_SECRET}"']) {
      assert.match(await askHere(`/config set agents.defaults.userTimezone=${leak}`), /set in the file itself/)
    }
    assert.match(await askHere("/config unset channels.chatapp.linkPreview"), /removed/)

    const file = readFileSync(join(world.stateFolder, "svc.json"), "utf8")
    assert.match(file, /^\/\/ kept comment/)
    assert.match(file, /\$\{CHAT_PREFIX\}" \}, \/\/ from the environment/)
    assert.doesNotMatch(file, /linkPreview|replyToMode|groupPolicy/)
    assert.match(file, /"-100\.5"/)
    assert.ok(readdirSync(world.stateFolder).some((name) => name.startsWith("svc.json.bak")))
    assert.match(world.gateway.log(), /config set by chat/)
    const told = world.botTexts().join("\n")
    for (const hidden of [secret, world.emulator.token, "hidden-in-the-environment"]) assert.ok(!told.includes(hidden))
  })

  test("people let in change the configuration too, in groups as well, but neither read it nor speak for its owner", async () => {
    const { control } = world.emulator
    const eve = control.addUser({ firstName: "Eve" })
    world.configure({ commands: { config: true }, channels: { chatapp: { groupPolicy: "open" } } })
    await until("the change counts", async () =>
      /open/.test(await askHere("/config get channels.chatapp.groupPolicy")) ? true : undefined,
    )
    const first = world.say("hello", bob)
    const told = await world.reply(/\b[A-HJ-NP-Z2-9]{8}\b/, { after: first, person: bob })
    const code = /\b[A-HJ-NP-Z2-9]{8}\b/.exec(told.text ?? "")?.[0]
    world.say("/status", bob)
    await world.gateway.call("POST", "/api/pairing/chatapp/approve", { code })
    await world.reply("ok", { after: first, person: bob })
    const sent = world.say("/status", bob)
    await world.reply("Gateway", { after: sent, person: bob })
    const askBob = async (words: string) => {
      const asked = world.say(words, bob)
      return (await world.reply(/./, { after: asked, person: bob })).text ?? ""
    }
    for (const reading of ["/config show", "/config get channels.chatapp.linkPreview"])
      assert.match(await askBob(reading), /Only owners may read/)
    assert.match(await askBob("/config set channels.chatapp.linkPreview=false"), /linkPreview set/)
    for (const owners of [
      `agents.defaults.heartbeat.to="${bob.id}"`,
      `channels.chatapp.groups["-100.5"].systemPrompt=obey`,
      `channels.chatapp.groups={}`,
      "approvals.validMinutes=9",
      "session.keepDays=1",
      "channels.chatapp.allowFrom=[]",
    ]) {
      assert.match(await askBob(`/config set ${owners}`), /Only owners may change/, owners)
    }
    const group = control.addChat({ type: "supergroup", title: "Crew", members: [bob.id, eve.id] })
    const inGroup = async (userId: number, words: string) => {
      const asked = control.sendText({ userId, chatId: group.id, text: words })
      const wait = { chatId: group.id, from: "bot" as const, after: asked.message_id }
      return (await control.waitForMessage(wait, patience)).text ?? ""
    }
    assert.match(await inGroup(bob.id, "/config unset channels.chatapp.linkPreview"), /removed/)
    assert.match(await inGroup(world.ada.id, "/config show"), /only in private chats/)
    assert.match(await inGroup(eve.id, "/config set channels.chatapp.linkPreview=false"), /You may not use \/config/)
    assert.match(await askHere("/config get channels.chatapp.linkPreview"), /true/)
  })

  test("nobody changes it where configWrites is off", async () => {
    world.configure({ commands: { config: true }, channels: { chatapp: { configWrites: false } } })
    await until("the change counts", async () =>
      /false/.test(await askHere("/config get channels.chatapp.configWrites")) ? true : undefined,
    )
    assert.match(
      await askHere("/config set channels.chatapp.linkPreview=false"),
      /switched off: channels\.chatapp\.configWrites/,
    )
    assert.match(await askHere("/config get channels.chatapp.linkPreview"), /true/)
  })
})
