// The main job through a chat: being let in, being answered, seeing what happened in the meantime; and what strangers,
// floods and broken platforms must not achieve.
import assert from "node:assert/strict"
import { readFileSync, readdirSync, statSync } from "node:fs"
import { connect } from "node:net"
import { basename, join } from "node:path"
import { beforeEach, test } from "node:test"
import { runProgram } from "../../cli/testing/run-program.ts"
import { text } from "../support/model-server/index.ts"
import { lastPrompt, messagesOf } from "../support/prompts.ts"
import { createWorld, fileContext, until } from "../support/world.ts"

const codePattern = /\b[A-HJ-NP-Z2-9]{8}\b/
const world = await createWorld(fileContext())
const bob = await world.addPerson({ firstName: "Bob" })
await world.start()

beforeEach(() => {
  world.model.requests.length = 0
  world.model.script(() => text("ok"))
})

test("a stranger gets a code, is let in by it, and is answered from then on", async () => {
  world.model.script((request) => text(`echo ${lastPrompt(request).split("\n").at(-1)}`))
  const first = world.say("let me in", bob)
  const told = await world.reply(codePattern, { after: first, person: bob })
  const code = codePattern.exec(told.text ?? "")?.[0] ?? ""
  world.say("hello? hello?", bob)
  const wrong = await fetch(`${world.gateway.url}/api/pairing/chatapp/approve`, {
    method: "POST",
    headers: { authorization: `Bearer ${world.gateway.token}`, "content-type": "application/json" },
    body: JSON.stringify({ code: "AAAAAAAA" }),
  })
  assert.equal(wrong.status, 404)
  const approved = await world.gateway.call<Record<string, unknown>>("POST", "/api/pairing/chatapp/approve", { code })
  assert.deepEqual(
    [approved["senderId"], approved["isAnswered"], approved["isOwner"], approved["sharesWith"]],
    [String(bob.id), true, false, 1],
  )
  await world.reply("echo let me in", { after: first, person: bob })
  const words = world.botTexts(bob, first)
  assert.deepEqual(
    words.map((said) => /^(Access is not|You have been let in\. The answer|echo)/.exec(said)?.[0]),
    ["Access is not", "You have been let in. The answer", "echo"],
  )
  const second = world.say("and now?", bob)
  await world.reply("echo and now?", { after: second, person: bob })
  assert.equal(
    world.botTexts(bob).filter((words) => codePattern.test(words)).length,
    1,
    "one code, however often they write",
  )
  assert.deepEqual(
    world.model.requests.map((request) => lastPrompt(request).split("\n").at(-1)),
    ["let me in", "and now?"],
    "of what a stranger says only the first is answered, once they are let in",
  )
})

test("/start is answered: by a code, a welcome, in a group; a stranger who is made an owner is one at once", async () => {
  await world.reconfigure({ channels: { chatapp: { groupPolicy: "open" } } })
  const dora = world.addNewcomer({ firstName: "Dora", username: "dora" })
  const told = await world.reply(codePattern, { person: dora })
  assert.match(told.text ?? "", /Once you are let in, I tell you here/)
  const code = codePattern.exec(told.text ?? "")?.[0] ?? ""
  world.say("who am I?", dora)
  const svc = (...words: string[]) => runProgram(words, { environment: { SVC_STATE_DIR: world.stateFolder } })
  await until("her words are kept", () => world.rows("select 1 from pairing_message").length > 0 || undefined)
  const approved = await svc("pairing", "approve", "chatapp", code, "--owner")
  assert.equal(approved.stderr + approved.stdout.split("\n", 2).join("\n").slice(0, 12), "approved Dor")
  assert.match(approved.stdout, /as an owner\nThey are told in the chat; what they wrote first is being answered\./)
  assert.match(approved.stdout, /dmScope per-peer/)
  await world.reply("ok", { after: told, person: dora })
  assert.match(world.botTexts(dora, told)[0] ?? "", /^You have been let in, as an owner of this bot\./)
  assert.match(lastPrompt(world.model.requests.at(-1) ?? assert.fail()), /who am I\?$/)
  const config = JSON.parse(readFileSync(join(world.stateFolder, "svc.json"), "utf8")) as never
  assert.deepEqual((config as { channels: { chatapp: { allowFrom: unknown } } }).channels.chatapp.allowFrom, [
    world.ada.id,
    String(dora.id),
  ])
  const asked = world.say("/whoami", dora)
  assert.match((await world.reply("Standing", { after: asked, person: dora })).text ?? "", /Standing owner/)
  const listed = await svc("pairing", "list", "chatapp")
  assert.match(listed.stdout, new RegExp(`^${dora.id} .*Dora.* owner .* svc$`, "m"))
  for (const text of ["/start", "/start ref_42", "/START"]) {
    const started = world.say(text, dora)
    const answer = await world.reply("I am here and listening", { after: started, person: dora })
    assert.match(answer.text ?? "", /Write what you want[^]*\/help/)
  }
  const group = world.emulator.control.addChat({ type: "supergroup", title: "Club", members: [world.ada.id] })
  const inGroup = world.emulator.control.sendText({
    userId: world.ada.id,
    chatId: group.id,
    text: `/start@${world.emulator.control.bots()[0]?.user.username} club`,
  })
  const answer = await world.emulator.control.waitForMessage(
    { chatId: group.id, from: "bot", after: inGroup.message_id, match: "listening" },
    { timeoutMs: 20_000 },
  )
  assert.match(answer.text ?? "", /Mention me/)
  assert.equal(world.model.requests.length, 1, "no model was asked for a greeting")
})

test("who is shut out loses what waits: messages, commands, and nothing of anybody else's", async () => {
  const carl = world.addNewcomer({ firstName: "Carl" })
  const told = await world.reply(codePattern, { person: carl })
  const code = codePattern.exec(told.text ?? "")?.[0] ?? ""
  await world.gateway.call("POST", "/api/pairing/chatapp/approve", { code, notify: false })
  const asked = Promise.withResolvers<void>()
  const revoked = Promise.withResolvers<void>()
  world.model.script(async (request) => {
    asked.resolve()
    if (lastPrompt(request).includes("take your time")) await revoked.promise
    return text(`on: ${lastPrompt(request).split("\n").at(-1)}`)
  })
  world.say("take your time")
  await asked.promise
  world.say("send me the diary", carl)
  world.say("/new", carl)
  const mine = world.say("and mine?")
  const waiting = "select id from job where state = 'ready'"
  await until("all of it waits", () => world.rows(waiting).length === 3 || undefined)
  await world.gateway.call("POST", "/api/pairing/chatapp/revoke", { senderId: carl.id })
  revoked.resolve()
  await world.reply("on: and mine?", { after: mine })
  assert.deepEqual(
    world.model.requests.map((request) => lastPrompt(request).split("\n").at(-1)),
    ["take your time", "and mine?"],
  )
  assert.match(world.model.requests[1]?.promptText() ?? "", /take your time/, "the session is the same as before")
  const ended = world.rows<{ kind: string; error: string }>("select kind, error from job where state = 'cancelled'")
  assert.deepEqual(
    ended.map((job) => [job.kind, job.error]),
    ["turn", "command"].map((kind) => [kind, "its sender is not let in any more"]),
  )
  assert.equal(world.botTexts(carl).filter((words) => !codePattern.test(words)).length, 0)
})

test("whose name is unpinned loses what waits, answers and reports, and is told nothing", async () => {
  const listed = (...names: string[]) => ({ channels: { chatapp: { allowFrom: [world.ada.id, ...names] } } })
  await world.reconfigure(listed("@fay"))
  const fay = world.addNewcomer({ firstName: "Fay", username: "fay" })
  await world.reply("listening", { person: fay })
  world.model.script((request) => text(`on: ${lastPrompt(request).split("\n").at(-1)}`))
  const hello = world.say("it is me", fay)
  await world.reply("on: it is me", { after: hello, person: fay })
  const known = world.botTexts(fay)
  const begun = new Set<string>()
  const unpinned = Promise.withResolvers<void>()
  world.model.script(async (request) => {
    const words = lastPrompt(request)
    begun.add(words.includes("a report") ? "report" : "answer")
    await unpinned.promise
    return text(`on: ${words.split("\n").at(-1)}`)
  })
  const run = { message: "a report", channel: "chatapp", to: String(fay.id), wakeMode: "next-heartbeat" }
  assert.equal((await world.hook("agent", run)).status, 202)
  world.say("take your time", fay)
  await until("both are begun", () => begun.size === 2 || undefined)
  world.say("and the diary", fay)
  await until(
    "one more waits",
    () => world.rows("select id from job where state = 'ready' and kind = 'turn'").length === 1 || undefined,
  )
  const unpin = () =>
    runProgram(["channels", "unpin", "chatapp", "@fay"], { environment: { SVC_STATE_DIR: world.stateFolder } })
  assert.equal((await unpin()).stdout, "unpinned @fay (default)\n")
  unpinned.resolve()
  await until("nothing is under way", () =>
    world.rows("select id from job where state in ('ready', 'running')").length === 0 &&
    world.rows("select id from outbox where state in ('new', 'sending')").length === 0
      ? true
      : undefined,
  )
  const [waiting] = world.rows<{ state: string; error: string }>(
    "select state, error from job order by id desc limit 1",
  )
  assert.deepEqual({ ...waiting }, { state: "cancelled", error: "its sender is not let in any more" })
  const dropped = world.rows<{ n: number }>(
    "select count(*) n from outbox where state = 'dropped' and chat_id = ? and error like 'who it is for%'",
    String(fay.id),
  )
  assert.equal(dropped[0]?.n, 2)
  assert.deepEqual(world.botTexts(fay), known)
  assert.equal((await unpin()).code, 1, "nobody is pinned under the name any more")
  await world.reconfigure(listed())
})

test("who is shut out is not the last recipient any more: reports go to nobody until somebody else writes", async () => {
  const dora = world.addNewcomer({ firstName: "Dora" })
  const told = await world.reply(codePattern, { person: dora })
  const code = codePattern.exec(told.text ?? "")?.[0] ?? ""
  await world.gateway.call("POST", "/api/pairing/chatapp/approve", { code, notify: false })
  world.model.script((request) => text(`on: ${lastPrompt(request).split("\n").at(-1)}`))
  const mine = world.say("I write last", dora)
  await world.reply("on: I write last", { after: mine, person: dora })
  const report = (path: string) => world.hook(path, { message: "a private report", wakeMode: "next-heartbeat" })
  assert.match(String((await report("agent?wait=20")).body["delivered"]), new RegExp(`sent to .*${dora.id}`))
  const known = world.botTexts(dora)
  const begun = Promise.withResolvers<void>()
  const revoked = Promise.withResolvers<void>()
  world.model.script(async (request) => {
    begun.resolve()
    await revoked.promise
    return text(`on: ${lastPrompt(request).split("\n").at(-1)}`)
  })
  const late = report("agent?wait=20")
  await begun.promise
  await world.gateway.call("POST", "/api/pairing/chatapp/revoke", { senderId: dora.id })
  revoked.resolve()
  await late
  await until(
    "the report that was begun before dies with its reason",
    () =>
      world.rows(
        "select id from outbox where state = 'dropped' and error like 'who it is for%' and chat_id = ?",
        String(dora.id),
      ).length === 1 || undefined,
  )
  assert.match(String((await report("agent?wait=20")).body["delivered"]), /not let in any more/)
  const back = world.say("and I am here")
  await world.reply("on: and I am here", { after: back })
  assert.match(String((await report("agent?wait=20")).body["delivered"]), new RegExp(`sent to .*${world.ada.id}`))
  assert.deepEqual(world.botTexts(dora), known)
})

test("who is taken off the list loses what was begun for them, whether the gateway runs or not", async () => {
  const id = 7001
  const listed = (...ids: number[]) => ({ channels: { chatapp: { allowFrom: [world.ada.id, ...ids] } } })
  const words = (answer: string) => world.botTexts(eve).filter((said) => said.includes(answer)).length
  const droppedRows = () => world.rows("select id from outbox where state = 'dropped' and error like 'who it is for%'")
  const run = (message: string) =>
    world.hook("agent", { message, deliver: true, channel: "chatapp", to: String(id), wakeMode: "next-heartbeat" })
  const begin = async (message: string) => {
    const begun = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    world.model.script(async () => {
      begun.resolve()
      await go.promise
      return text(message)
    })
    await run(message)
    await begun.promise
    return () => go.resolve()
  }
  const before = droppedRows().length
  const dropped = (count: number) => async () => (droppedRows().length === before + count ? true : undefined)
  await world.reconfigure(listed(id))
  const eve = await world.addPerson({ id, firstName: "Eve" })
  const first = await begin("while it runs")
  await world.reconfigure(listed())
  first()
  await until("it is dropped", dropped(1))
  await world.reconfigure(listed(id))
  await begin("while it is off")
  await world.gateway.kill("SIGKILL")
  world.configure(listed())
  world.model.script(() => text("while it is off"))
  await world.start()
  await until("that is dropped too", dropped(2))
  const { status } = await run("x")
  assert.equal(status, 202)
  await until("what is sent to them all the same arrives", () => words("while it is off") > 0 || undefined)
  assert.deepEqual([words("while it runs"), words("while it is off")], [0, 1])
})

test("an owner's conversation goes on over turns and over a restart", async () => {
  world.model.script((_request, n) => text(`answer ${n}`))
  const fresh = world.say("/new")
  await world.reply("New session", { after: fresh })
  const first = world.say("my name is Ada")
  await world.reply("answer 1", { after: first })
  await world.gateway.kill("SIGTERM")
  await world.start()
  const second = world.say("what is my name?")
  await world.reply("answer 2", { after: second })
  const roles = messagesOf(world.model.requests[1] ?? assert.fail()).map((message) => message.role)
  assert.deepEqual(roles, ["system", "user", "assistant", "user"])
  assert.match(world.model.requests[1]?.promptText() ?? "", /my name is Ada[^]*answer 1[^]*what is my name\?/)
})

test("a flood of a hundred strangers delays nobody, reaches no model, and each is told once", async () => {
  const strangers = Array.from({ length: 100 }, (_, n) =>
    world.emulator.control.addUser({ firstName: `Stranger ${n}` }),
  )
  for (const stranger of strangers) world.say("let me in", stranger)
  for (let n = 0; n < 10; n += 1) world.say("let me in!", strangers[0])
  const sent = world.say("still there?")
  await world.reply("ok", { after: sent })
  const due = world.rows<{ run_at: number; created_at: number }>(
    "select run_at, created_at from outbox where chat_id = ? order by id desc limit 1",
    String(world.ada.id),
  )
  assert.ok(due[0] && due[0].run_at <= due[0].created_at, "the owner's answer does not wait for those of strangers")
  const list = await until("all requests are listed", async () => {
    const { requests } = await world.gateway.call<{ requests: { senderId: string; code: string }[] }>(
      "GET",
      "/api/pairing/chatapp",
    )
    return requests.length === 100 ? requests : undefined
  })
  assert.equal(new Set(list.map((request) => request.code)).size, 100)
  const last = list.find((request) => request.senderId === String(strangers[99]?.id))
  await world.gateway.call("POST", "/api/pairing/chatapp/approve", { code: last?.code })
  const answers = world.rows<{ chat_id: string; n: number }>(
    `select chat_id, count(*) as n from outbox where payload like '%pairing approve%' group by chat_id having n > 1`,
  )
  assert.deepEqual(answers, [])
  assert.deepEqual(
    world.model.requests.filter((request) => lastPrompt(request).includes("let me in")),
    [],
  )
})

test("upgrades and guesses from web pages are refused, and a broken path ends nothing", async () => {
  const { port, token, url } = world.gateway
  const upgrade = await raw(port, [
    "GET / HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Origin: https://evil.example",
  ])
  assert.match(upgrade, /^HTTP\/1\.1 403 /)
  const authorization = `Bearer ${token}`
  for (const path of ["/api/runs/%ZZ", "/%", "/api/%E0%A4%A"]) {
    const answer = await raw(port, [
      `GET ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      `Authorization: ${authorization}`,
    ])
    assert.match(answer, /^HTTP\/1\.1 400 /)
  }
  const statuses: number[] = []
  for (let n = 0; n < 25; n += 1) {
    statuses.push((await fetch(`${url}/api/status`, { headers: { authorization: "Bearer wrong" } })).status)
  }
  assert.equal(statuses[0], 401)
  assert.equal(statuses.at(-1), 429)
  assert.equal(
    (await fetch(`${url}/api/status`, { headers: { authorization } })).status,
    200,
    "the right token always passes",
  )
})

test("the bot's token stands in no log, status, error or list, whatever the platform does", async () => {
  const { token } = world.emulator
  const shown: string[] = []
  for (const fault of [
    { kind: "cut" as const },
    { kind: "status" as const, status: 500, description: `Internal error at /bot${token}/getUpdates` },
    { kind: "html" as const },
  ]) {
    // After each failed poll the gateway rests.
    for (const [method, times] of Object.entries({ sendMessage: 3, getUpdates: 1, sendChatAction: 3 }))
      world.emulator.control.fault({ ...fault, method, times })
    world.say(`during ${fault.kind}`)
    await world.until("the answer is on its way or given up", async () => {
      shown.push(JSON.stringify(await world.gateway.call("GET", "/api/status")))
      shown.push(JSON.stringify(await world.gateway.call("GET", "/api/channels?probe=true")))
      const untried = "select 1 from outbox where state = 'new' and attempts = 0 and chat_id = ?"
      return world.rows(untried, String(world.ada.id)).length === 0 || undefined
    })
  }
  world.emulator.control.clearFaults()
  const marker = world.say("the end")
  await world.reply("ok", { after: marker, timeoutMs: 30_000 })
  for (const path of ["/api/runs", "/api/deliveries", "/api/events"]) {
    shown.push(JSON.stringify(await world.gateway.call("GET", path)))
  }
  await world.gateway.kill("SIGTERM")
  shown.push(world.gateway.output())
  for (const file of filesOf(world.stateFolder))
    if (!basename(file).startsWith("svc.json")) shown.push(readFileSync(file, "latin1"))
  const secret = token.split(":")[1] ?? assert.fail()
  const leaks = shown.filter((words) => words.includes(secret))
  assert.deepEqual(
    leaks.map((words) => words.slice(0, 300)),
    [],
  )
})

function filesOf(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    return statSync(path).isDirectory() ? filesOf(path) : [path]
  })
}

/** A request as it is written, and the beginning of its answer. */
function raw(port: number, lines: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`${lines.join("\r\n")}\r\n\r\n`))
    socket.setTimeout(5_000, () => socket.destroy(new Error("no answer")))
    socket.once("data", (data: Buffer) => {
      resolve(data.toString())
      socket.destroy()
    })
    socket.once("error", reject)
  })
}
