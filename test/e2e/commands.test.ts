// Chat commands against a whole gateway: typed, from a group, by a button; while the agent works, over a crash, and by
// people who may not.
import assert from "node:assert/strict"
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { text } from "../support/model-server/index.ts"
import { lastPrompt } from "../support/prompts.ts"
import { createWorld, until, writeRawConfig, type World } from "../support/world.ts"

async function ask(world: World, command: string): Promise<string> {
  const sent = world.say(command)
  return (await world.reply(/./, { after: sent })).text ?? ""
}

const setting = (world: World, name: string): unknown =>
  (
    JSON.parse(
      world.rows<{ settings: string }>("select settings from session where key = 'agent:main:main'")[0]?.settings ??
        "{}",
    ) as Record<string, unknown>
  )[name]

test("answers every command of an owner in a private chat, without asking the model", async (context) => {
  const world = await createWorld(context)
  await world.start()
  assert.match(await ask(world, "/help"), /\/commands lists all commands/)
  const all = await ask(world, "/commands")
  for (const name of ["status", "reset", "new", "model", "whoami", "stop", "think", "reasoning"]) {
    assert.ok(all.includes(`/${name} `), name)
  }
  assert.ok(!all.includes("/config"), "switched off, so not listed")
  assert.match(await ask(world, "/whoami"), /User id 1001[^]*Username @ada[^]*Standing owner/)
  assert.match(await ask(world, "/status"), /Model test\/small, thinking off[^]*Messages 0 under way, 0 waiting/)
  assert.match(await ask(world, "/stop"), /Nothing to stop/)
  assert.match(await ask(world, "/think high"), /is high now/)
  assert.equal(setting(world, "thinking"), "high")
  assert.match(await ask(world, "/think: default"), /as configured/)
  assert.equal(setting(world, "thinking"), undefined)
  assert.match(await ask(world, "/reasoning@" + world.emulator.bot.username + " stream"), /while it thinks/)
  assert.equal(setting(world, "reasoning"), "stream")
  assert.match(await ask(world, "/REASONING off"), /not shown any more/)
  assert.match(await ask(world, "/activation always"), /works only in groups/)
  assert.match(await ask(world, "/config show"), /switched off/)
  assert.equal(world.model.requests.length, 0)
})

test("a new session forgets what was said, keeps what was chosen, and goes on with the text behind the command", async (context) => {
  const world = await createWorld(context, {
    config: { models: { providers: { test: { models: { large: {} } } } } },
  })
  world.model.script((_request, n) => text(`answer ${n}`))
  await world.start()
  await ask(world, "/think low")
  assert.equal(await ask(world, "my cat is called Momo"), "answer 1")
  assert.match(await ask(world, "/reset"), /New session\. Model: test\/small/)
  assert.equal(setting(world, "thinking"), "low")
  const sent = world.say("/new large what is my cat called?")
  await world.reply(/New session\. Model: test\/large/, { after: sent })
  await world.reply("answer 2", { after: sent })
  const request = world.model.requests[1] ?? assert.fail()
  assert.doesNotMatch(request.promptText(), /Momo|\/new/)
  assert.match(lastPrompt(request), /what is my cat called\?$/)
  assert.equal(request.body["model"], "large")
})

test("chooses among the allowed models, by name, alias and button, and refuses others", async (context) => {
  const world = await createWorld(context, {
    config: { agents: { defaults: { models: { "test/large": { alias: "big" } } } } },
  })
  await world.start()
  assert.match(await ask(world, "/model list"), /→ test\/small\n• test\/large \(big\)/)
  assert.match(await ask(world, "/model test/other"), /not in the allowed list[^]*Allowed: /)
  assert.match(await ask(world, "/model BIG"), /From now on test\/large answers here/)
  const asked = world.say("/model")
  const menu = await world.reply("The model of this session is test/large", { after: asked })
  world.emulator.control.click({ userId: world.ada.id, messageId: menu.message_id, text: "Default" })
  await world.reply("From now on test/small answers here, as configured", { after: menu })
  assert.equal(world.model.requests.length, 0)
})

test("stop overtakes a long answer, drops what waits behind it, and leaves what comes after", async (context) => {
  const world = await createWorld(context, { config: { agents: { defaults: { maxConcurrent: 1 } } } })
  const asked = Promise.withResolvers<void>()
  world.model.script((request) => {
    if (!lastPrompt(request).endsWith("a long story")) return text("short")
    asked.resolve()
    return { kind: "hang" }
  })
  await world.start()
  world.say("a long story")
  await asked.promise
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
  const states = world.rows<{ state: string }>("select state from job where kind = 'turn' order by id")
  assert.deepEqual(
    states.slice(0, 4).map(({ state }) => state),
    ["cancelled", "cancelled", "cancelled", "done"],
  )
})

test("a bare stop word stops only while something runs, and is a message else", async (context) => {
  const world = await createWorld(context)
  const asked = Promise.withResolvers<void>()
  world.model.script((request) => {
    if (!lastPrompt(request).endsWith("count to a million")) return text("I wait for nothing")
    asked.resolve()
    return { kind: "hang" }
  })
  await world.start()
  assert.equal(await ask(world, "wait"), "I wait for nothing")
  world.say("count to a million")
  await asked.promise
  assert.equal(await ask(world, "Wait"), "Stopped.")
})

test("a command survives a kill between its acceptance and its answer, and is done once", async (context) => {
  const world = await createWorld(context)
  await world.start()
  await ask(world, "/think low")
  await world.gateway.kill("SIGTERM")
  const before = world.rows<{ session_id: string }>("select session_id from session")[0]?.session_id
  const sent = world.say("/reset")
  await world.start({ crashAt: "ingest.committed" })
  await world.gateway.ended
  await world.start({ crashAt: "turn.beforeCommit" })
  await world.gateway.ended
  assert.equal(world.rows<{ session_id: string }>("select session_id from session")[0]?.session_id, before)
  await world.start()
  await world.reply("New session.", { after: sent })
  await world.settle()
  assert.equal(world.botTexts(world.ada, sent).filter((words) => words.startsWith("New session.")).length, 1)
  assert.notEqual(world.rows<{ session_id: string }>("select session_id from session")[0]?.session_id, before)
})

test("an owner reads and changes the configuration by chat; secrets, guarded keys and bad values stay out", async (context) => {
  const world = await createWorld(context, { config: { commands: { config: true } } })
  const secret = "sk-very-secret-0123456789"
  writeRawConfig(
    world.stateFolder,
    `// kept comment
{
  logging: { level: "debug" },
  commands: { config: true },
  channels: { chatapp: { botToken: "${world.emulator.token}", apiRoot: "${world.emulator.url}", allowFrom: [1001] } },
  models: { providers: { test: { kind: "openai-compatible", baseUrl: "${world.model.baseUrl}", apiKey: "${secret}" } } },
  messages: { responsePrefix: "\${CHAT_PREFIX}" }, // from the environment
  agents: { defaults: { model: "test/small", heartbeat: { every: "0" } } },
  browser: { enabled: false },
}
`,
  )
  await world.start({ environment: { CHAT_PREFIX: "bot:", OTHER_SECRET: "hidden-in-the-environment" } })
  const shown = await ask(world, "/config show")
  assert.match(shown, /"apiKey": "\*\*\*"/)
  assert.match(shown, /"botToken": "\*\*\*"/)
  assert.match(await ask(world, "/config get models.providers.test.apiKey"), /\*\*\*/)
  assert.match(await ask(world, "/config get channels.chatapp.linkPreview"), /true/)
  assert.match(await ask(world, "/config get channels.chatap"), /There is no configuration key/)

  assert.match(await ask(world, "/config set channels.chatapp.linkPreview=false"), /linkPreview set\. It is in effect/)
  assert.match(await ask(world, "/config get channels.chatapp.linkPreview"), /false/)
  assert.match(await ask(world, "/config set channels.chatapp.linkPreview false"), /nothing to change/)
  assert.match(await ask(world, `/config set channels.chatapp.groups["-100.5"].requireMention=false`), / set\. /)
  assert.match(await ask(world, "/config set channels.chatapp.textChunkLimit=none"), /Nothing was written/)
  assert.match(await ask(world, "/config set channels.chatapp.linkPreview"), /value is missing/)
  for (const guarded of [
    `channels.chatapp.allowFrom=["*"]`,
    "hooks.token=x",
    "gateway.auth.token=x",
    "commands.useAccessGroups=false",
    `channels={"chatapp":{"allowFrom":["*"]}}`,
    "models.providers.test.apiKey=x",
  ]) {
    assert.match(await ask(world, `/config set ${guarded}`), /cannot be changed from a chat/, guarded)
  }
  assert.match(await ask(world, "/config set __proto__.x=1"), /cannot be part of a configuration key/)
  for (const leak of ["${OTHER_SECRET}", '"\\u0024{OTHER_SECRET}"']) {
    assert.match(await ask(world, `/config set agents.defaults.userTimezone=${leak}`), /set in the file itself/)
  }
  assert.match(await ask(world, "/config unset channels.chatapp.linkPreview"), /removed/)

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

test("nobody but an owner uses /config, and not where configWrites is off", async (context) => {
  const world = await createWorld(context, {
    config: { commands: { config: true }, channels: { chatapp: { configWrites: false } } },
  })
  world.model.script(() => text("ok"))
  await world.start()
  const bob = await world.addPerson({ firstName: "Bob" })
  const first = world.say("hello", bob)
  const told = await world.reply(/\b[A-HJ-NP-Z2-9]{8}\b/, { after: first, person: bob })
  const code = /\b[A-HJ-NP-Z2-9]{8}\b/.exec(told.text ?? "")?.[0]
  world.say("/status", bob)
  await world.gateway.call("POST", "/api/pairing/chatapp/approve", { code })
  const sent = world.say("/status", bob)
  await world.reply("Gateway", { after: sent, person: bob })
  world.say("/config show", bob)
  await world.settle(bob)
  assert.deepEqual(
    world.botTexts(bob, sent).filter((words) => !words.includes("Gateway") && words !== "ok"),
    [],
    "a stranger got the code and nothing else; somebody let in gets no configuration",
  )
  assert.match(
    await ask(world, "/config set channels.chatapp.linkPreview=false"),
    /switched off: channels\.chatapp\.configWrites/,
  )
  assert.match(await ask(world, "/config get channels.chatapp.linkPreview"), /true/)
})

test("in a group only its listed senders command, others and other bots' commands are met with silence", async (context) => {
  const world = await createWorld(context, {
    config: { channels: { chatapp: { groupPolicy: "open", groupAllowFrom: [1001] } }, commands: { config: true } },
  })
  world.model.script(() => text("model answer"))
  const { control, bot } = world.emulator
  const eve = control.addUser({ firstName: "Eve" })
  const group = control.addChat({ type: "supergroup", title: "Crew", members: [world.ada.id, eve.id] })
  const forum = control.addChat({ type: "supergroup", title: "Forum", forum: true, members: [world.ada.id] })
  const topic = control.addTopic({ userId: world.ada.id, chatId: forum.id, name: "Plans" })
  await world.start()
  const before = control.sendText({ userId: eve.id, chatId: group.id, text: "hi all" })
  for (const words of [
    "/status",
    "/activation always",
    `/reset@${bot.username}`,
    "/config show",
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
  const answer = await control.waitForMessage(
    { ...wait, match: "I answer every message here now" },
    { timeoutMs: 15_000 },
  )
  assert.equal(answer.reply_to_message?.message_id, asked.message_id)
  control.sendText({ userId: world.ada.id, chatId: group.id, text: "no mention here" })
  await control.waitForMessage({ ...wait, match: "model answer" }, { timeoutMs: 15_000 })
  const said = control.messages({ chatId: group.id, after: before.message_id }).filter((each) => each.from?.is_bot)
  assert.deepEqual(
    said.map((each) => each.text).filter((words) => words !== "model answer"),
    ["/config works only in private chats.", "I answer every message here now."],
  )
  const inTopic = control.sendText({
    userId: world.ada.id,
    chatId: forum.id,
    threadId: topic.threadId,
    text: "/status",
  })
  const status = await control.waitForMessage(
    { chatId: forum.id, from: "bot", after: inTopic.message_id },
    { timeoutMs: 15_000 },
  )
  assert.equal(status.message_thread_id, topic.threadId)
  assert.match(status.text ?? "", /Activation as configured/, "each topic has its own session")
})

test("registers the menu once, again only when it has changed, and empties it when native commands are off", async (context) => {
  const world = await createWorld(context, {
    config: {
      channels: {
        chatapp: {
          customCommands: [
            { command: "/Backup", description: "Back up now" },
            { command: "status", description: "not allowed" },
          ],
        },
      },
    },
  })
  const { control } = world.emulator
  const registered = () => control.calls().filter((call) => call.method.endsWith("MyCommands"))
  const bothScopes = (count: number) =>
    until("the menu is registered", () => (registered().filter((call) => call.ok).length >= count ? true : undefined))
  control.fault({ kind: "429", method: "setMyCommands", retryAfter: 1 })
  await world.start()
  await bothScopes(2)
  const names = (scope: Record<string, unknown>) => JSON.stringify(control.commands({ scope }))
  assert.match(names({ type: "default" }), /"status"[^]*"backup"/)
  assert.doesNotMatch(names({ type: "default" }), /activation|"config"|not allowed/)
  assert.match(names({ type: "all_group_chats" }), /activation/)
  assert.match(world.gateway.log(), /custom command skipped/)
  const sent = world.say("/backup everything")
  await world.reply("ok", { after: sent })
  assert.match(
    lastPrompt(world.model.requests[0] ?? assert.fail()),
    /\/backup everything$/,
    "an entry of the operator is a message",
  )
  await world.gateway.kill("SIGTERM")
  const first = registered().length
  await world.start()
  await world.settle()
  assert.equal(registered().length, first, "unchanged: not registered again")
  world.configure({ commands: { native: "off" }, channels: { chatapp: { customCommands: [] } } })
  await until("the menu is cleared", () =>
    registered().filter((call) => call.method === "deleteMyCommands").length === 2 ? true : undefined,
  )
})

test("somebody let in stops what their own chat has asked for, an owner whatever the session does", async (context) => {
  const world = await createWorld(context, { config: { channels: { chatapp: { allowFrom: [1001, "@bob"] } } } })
  const asked = Promise.withResolvers<void>()
  world.model.script((request) => {
    if (!lastPrompt(request).endsWith("a long story")) return text("short")
    asked.resolve()
    return { kind: "hang" }
  })
  const bob = await world.addPerson({ firstName: "Bob", username: "bob" })
  await world.start()
  world.say("a long story")
  await asked.promise
  const his = world.say("me too", bob)
  const stop = world.say("/stop", bob)
  const told = await world.reply(/stop|dropped/, { after: stop, person: bob })
  assert.equal(told.text, "Nothing was under way. 1 waiting message was dropped.")
  const again = world.say("me again", bob)
  assert.equal(await ask(world, "/stop"), "Stopped.")
  await world.reply("short", { after: again, person: bob })
  assert.deepEqual(world.botTexts(bob, his).filter((words) => words === "short").length, 1)
})

test("choices are listed where buttons are switched off, and a menu that cannot be registered delays nothing", async (context) => {
  const world = await createWorld(context, {
    config: { channels: { chatapp: { capabilities: { inlineButtons: "off" } } } },
  })
  world.emulator.control.fault({ kind: "hang", method: "setMyCommands", times: 0 })
  await world.start()
  const listed = await ask(world, "/think")
  assert.match(listed, /The thinking level is off\.\n\/think off\n\/think minimal/)
  const asked = world.say("/reasoning")
  const answer = await world.reply("Reasoning is off", { after: asked })
  assert.equal(answer.reply_markup, undefined)
})
