import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, writeFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { basename, dirname, join } from "node:path"
import { text } from "node:stream/consumers"
import { test, type TestContext } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { inherited, runProgram, startProgram, testedProgram } from "../testing/run-program.ts"
import { answerJson, standInToken, startStandIn, type Answer } from "../testing/stand-in-gateway.ts"

async function ask(context: TestContext, words: readonly string[], answer: unknown) {
  const reply: Answer = typeof answer === "function" ? (answer as Answer) : answerJson(answer)
  const gateway = await startStandIn(reply)
  context.after(() => gateway.stop())
  const result = await runProgram(words, { environment: { ...gateway.environment, TZ: "UTC" } })
  return { ...result, requests: gateway.requests, stateFolder: gateway.stateFolder }
}

const request = ({ requests }: Awaited<ReturnType<typeof ask>>) => {
  const { method, path, body } = requests[0] ?? {}
  return { method, path, body }
}

const sums = {
  calls: 0,
  input: 0,
  output: 0,
  cacheRead: null,
  cacheWrite: null,
  reasoning: null,
  cost: 0,
  uncounted: 0,
  unpriced: 0,
}

const status = {
  version: "1.2.3",
  pid: 77,
  bootId: "b",
  startedAt: new Date(Date.now() - 3_720_000).toISOString(),
  stateFolder: "/state",
  configPath: "/state/svc.json",
  port: 1,
  controlPort: 3,
  parts: { store: "ready", browser: "failed" },
  configProblem: "hooks.token: too short",
  store: { accepting: false },
  jobs: { ready: 1, running: 2, dead: 3 },
  outbox: { new: 4, sending: 5, uncertain: 6, dead: 7 },
  events: { waiting: 8, setAside: 9 },
  channels: [],
  model: { error: "no key", warnings: ["agents.defaults.model: The provider x has no key\u001b[2J"] },
  usage: { today: { ...sums, calls: 3, input: 12_000, output: 345, cost: 0.05, unpriced: 1 } },
  memoryMb: 90,
}

test("status tells what runs and what is wrong", async (context) => {
  const result = await ask(context, ["status"], status)
  assert.deepEqual(request(result), { method: "GET", path: "/api/status", body: undefined })
  assert.equal(result.code, 0)
  assert.match(result.stdout, /^gateway {3}running for 1 h 2 min, version 1\.2\.3, process 77, 90 MB$/m)
  assert.match(result.stdout, /^parts {5}store ready, browser failed$/m)
  assert.match(result.stdout, /^model {5}none: no key; today 12,345 tokens, \$0\.0500 \(unknown for 1 of 3 calls\)$/m)
  assert.match(result.stdout, /\n {10}may not work: agents\.defaults\.model: The provider x has no key\\x1b\[2J\njobs /)
  assert.match(result.stdout, /^outbox {4}4 waiting, 5 sending, 6 uncertain, 7 failed$/m)
  assert.match(result.stdout, /^events {4}8 waiting, 9 set aside \(svc events\)$/m)
  assert.match(result.stdout, /6 may not have arrived: svc outbox list --state uncertain/)
  assert.match(result.stdout, /not accepting/)
  assert.match(result.stdout, /hooks\.token: too short/)
})

test("status says once why the store takes nothing", async (context) => {
  const problem = "The disk is full; nothing was accepted. Free some space"
  const told = { store: { accepting: false, problem }, problems: [{ part: "store", problem }] }
  const result = await ask(context, ["status"], { ...status, ...told })
  assert.match(result.stdout, /^problem {3}store: The disk is full; nothing was accepted\. Free some space$/m)
  assert.equal(result.stdout.match(/Free some space/g)?.length, 1)
})

test("status --json prints the gateway's own answer", async (context) => {
  assert.deepEqual(JSON.parse((await ask(context, ["status", "--json"], status)).stdout), status)
})

const requests = [
  {
    senderId: "42",
    label: "Eve\u001b[2J\nx",
    account: "default",
    code: "AB3DEF7H",
    createdAt: 0,
    expiresAt: 3_600_000,
  },
]
const allowed = [
  { senderId: "43", label: "Bob", account: "default", approvedAt: 0, approvedBy: "token ci\u001b[2J", isOwner: true },
  { senderId: "44", label: "Kim", account: "default", approvedAt: 0, approvedBy: "", isOwner: false },
]

test("pairing list prints the requests as a table that names of strangers cannot break", async (context) => {
  const result = await ask(context, ["pairing", "list", "chatapp"], { requests, allowed })
  assert.deepEqual(request(result), { method: "GET", path: "/api/pairing/chatapp", body: undefined })
  assert.equal(
    result.stdout,
    "Code      Sender  Name          Account  Requested            Expires\n" +
      "AB3DEF7H  42      Eve\\x1b[2J x  default  1970-01-01 00:00:00  1970-01-01 01:00:00\n" +
      "\n" +
      "Sender  Name  Account  Standing  Approved             By\n" +
      "43      Bob   default  owner     1970-01-01 00:00:00  token ci\\x1b[2J\n" +
      "44      Kim   default  let in    1970-01-01 00:00:00  not known\n",
  )
  const waiting = await ask(context, ["pairing", "list", "chatapp", "--waiting"], { requests: [], allowed })
  assert.equal(waiting.stdout, "nobody is waiting to be let in\n")
})

test("pairing list --approved prints who was let in", async (context) => {
  const result = await ask(context, ["pairing", "list", "chatapp", "--approved"], { requests, allowed })
  assert.match(result.stdout, /^44 {6}Kim {3}default {2}let in {4}1970-01-01 00:00:00 {2}not known$/m)
  assert.doesNotMatch(result.stdout, /AB3DEF7H/)
})

test("pairing approve tells the person unless it is not wanted, and says what comes next", async (context) => {
  const answer = { senderId: "42", label: "Eve", account: "default", isOwner: false, isAnswered: true, sharesWith: 0 }
  const plain = await ask(context, ["pairing", "approve", "chatapp", "AB3DEF7H"], answer)
  const body = { code: "AB3DEF7H", notify: true }
  assert.deepEqual(request(plain), { method: "POST", path: "/api/pairing/chatapp/approve", body })
  assert.equal(plain.stdout, "approved Eve 42\nThey are told in the chat; what they wrote first is being answered.\n")
  const full = await ask(
    context,
    "pairing approve chatapp AB3DEF7H --account two --owner --no-notify --json".split(" "),
    answer,
  )
  assert.deepEqual(request(full).body, { code: "AB3DEF7H", account: "two", owner: true, notify: false })
  assert.deepEqual(JSON.parse(full.stdout), answer)
  const second = { ...answer, isOwner: true, isAnswered: false, sharesWith: 2 }
  const shared = await ask(context, ["pairing", "approve", "chatapp", "AB3DEF7H", "--notify"], second)
  assert.match(shared.stdout, /^approved Eve 42, as an owner\n.*write again to be answered/)
  assert.match(shared.stdout, /shares it with 2 other people.*\n.*\n.*svc config set session\.dmScope per-peer\n$/)
})

test("pairing revoke says whether there was anything to take back", async (context) => {
  const first = await ask(context, ["pairing", "revoke", "chatapp", "42"], { removed: true })
  assert.deepEqual(request(first), { method: "POST", path: "/api/pairing/chatapp/revoke", body: { senderId: "42" } })
  assert.equal(first.stdout, "revoked 42\n")
  assert.equal(
    (await ask(context, ["pairing", "revoke", "chatapp", "42"], { removed: false })).stdout,
    "42 was not approved\n",
  )
  const listed = { removed: true, listedIn: ["channels.chatapp.allowFrom"] }
  const owner = await ask(context, ["pairing", "revoke", "chatapp", "42"], listed)
  assert.match(owner.stdout, /^revoked 42\n42 is still let in, as an owner: listed in channels\.chatapp\.allowFrom\n$/)
})

test("message send passes every option on, with a file that the gateway may send", async (context) => {
  const folder = temporaryFolder()
  const picture = join(folder, "cat.png")
  writeFileSync(picture, "a cat")
  const words = ["message", "send", "--channel", "chatapp", "--target", "-1001", "--message", "hi", "--media", picture]
  const more = ["--account", "two", "--silent", "--reply-to", "5", "--thread-id", "6"]
  const result = await ask(context, [...words, ...more], { deliveries: [12], route: {} })
  const { media } = request(result).body as { media: string }
  assert.equal(basename(media), "cat.png")
  assert.equal(dirname(dirname(media)), join(result.stateFolder, "media", "outgoing"))
  assert.equal(readFileSync(media, "utf8"), "a cat")
  assert.deepEqual(request(result), {
    method: "POST",
    path: "/api/message/send",
    body: {
      channel: "chatapp",
      target: "-1001",
      message: "hi",
      media,
      account: "two",
      silent: true,
      replyTo: "5",
      threadId: "6",
      waitSeconds: 10,
    },
  })
  assert.equal(result.stdout, "queued for -1001 (svc outbox show 12)\n")
})

test("a copy stays when Ctrl-C or the gateway's end comes before its answer: it may have been taken", async (context) => {
  const picture = join(temporaryFolder(), "cat.png")
  writeFileSync(picture, "a cat")
  const copies = (stateFolder: string) => readdirSync(join(stateFolder, "media", "outgoing")).length
  const send = ["message", "send", "--target", "1", "--media", picture]
  for (const words of [send, ["agent", "--picture", picture, "look"]]) {
    const asked = Promise.withResolvers<void>()
    const gateway = await startStandIn(() => asked.resolve())
    context.after(() => gateway.stop())
    const running = startProgram(words, { environment: gateway.environment })
    await asked.promise
    running.child.kill("SIGINT")
    assert.equal((await running.ended).code, 130)
    assert.equal(copies(gateway.stateFolder), 1, words[0])
  }
  const cut = await ask(context, send, (_request: unknown, response: ServerResponse) => void response.destroy())
  assert.match(cut.stderr, /without an answer/)
  assert.equal(copies(cut.stateFolder), 1)
  const nobody = temporaryFolder()
  assert.equal((await runProgram(send, { environment: { SVC_STATE_DIR: nobody } })).code, 1)
  assert.deepEqual(readdirSync(nobody), [])
})

test("message send leaves no copy of a file behind when nothing is sent, and a file of the media folder where it is", async (context) => {
  const picture = join(temporaryFolder(), "cat.png")
  writeFileSync(picture, "a cat")
  const words = ["message", "send", "--target", "1", "--media"]
  const refusal = { ok: false, error: { code: "media-refused", message: "it is too large" } }
  const refused = await ask(context, [...words, picture], answerJson(refusal, 400))
  assert.match(refused.stderr, /it is too large/)
  assert.deepEqual(readdirSync(join(refused.stateFolder, "media", "outgoing")), [])
  const dry = await ask(context, [...words, picture, "--dry-run"], { deliveries: [], route: {} })
  assert.deepEqual(readdirSync(join(dry.stateFolder, "media", "outgoing")), [])
  // Without an answer the gateway may be about to send it.
  const silent = await ask(context, [...words, picture, "--timeout", "300"], () => undefined)
  assert.match(silent.stderr, /did not answer within 300 ms/)
  assert.equal(readdirSync(join(silent.stateFolder, "media", "outgoing")).length, 1)
  const missing = await ask(context, [...words, join(dry.stateFolder, "none.png")], {})
  assert.deepEqual([missing.code, missing.requests.length], [2, 0])
  assert.match(missing.stderr, /none\.png: there is no such file/)
  const gateway = await startStandIn(answerJson({ deliveries: [], route: {} }))
  context.after(() => gateway.stop())
  mkdirSync(join(gateway.stateFolder, "media"))
  const own = join(gateway.stateFolder, "media", "own.png")
  writeFileSync(own, "a dog")
  await runProgram([...words, own], { environment: gateway.environment })
  const [asked] = gateway.requests.map(({ body }) => body as { media: string })
  assert.equal(asked?.media, realpathSync(own))
})

test("message send says what became of the message, and ends with 1 when it will never arrive", async (context) => {
  const words = ["message", "send", "--target", "42", "--message", "hi"]
  const one = (state: string, error: string | null) => ({
    deliveries: [12],
    route: {},
    delivery: { state, messages: [{ id: 12, channel: "chatapp", chatId: "42", state, messageId: "7", error }] },
  })
  const sent = await ask(context, words, one("sent", null))
  assert.deepEqual([sent.code, sent.stdout], [0, "sent to chatapp chat 42 as message 7\n"])
  const dead = await ask(context, words, one("dead", "blocked by the user"))
  const shown = "not delivered to chatapp chat 42: blocked by the user (svc outbox show 12)\n"
  assert.deepEqual([dead.code, dead.stdout], [1, shown])
  const doubtful = await ask(context, words, one("uncertain", "no answer"))
  assert.match(doubtful.stdout, /^may or may not have arrived in chatapp chat 42: no answer/)
  const queued = await ask(context, [...words, "--no-wait"], one("queued", null))
  assert.deepEqual(request(queued).body, { target: "42", message: "hi" })
  assert.match(queued.stdout, /^queued for 42/)
})

test("message send leaves the channel and a URL as they are", async (context) => {
  const words = ["message", "send", "--target", "@eve", "--media", "https://example.org/a.png", "--dry-run"]
  const result = await ask(context, words, { deliveries: [], route: { chatId: "9" } })
  assert.deepEqual(request(result).body, {
    target: "@eve",
    message: "",
    media: "https://example.org/a.png",
    dryRun: true,
  })
  assert.equal(result.stdout, 'nothing was done; it would go to {"chatId":"9"}\n')
})

test("message send wants a target, and a text or a file", async (context) => {
  const noTarget = await ask(context, ["message", "send", "--message", "x"], {})
  assert.deepEqual([noTarget.code, noTarget.requests.length], [2, 0])
  assert.match(noTarget.stderr, /--target/)
  const nothing = await ask(context, ["message", "send", "--target", "1"], {})
  assert.deepEqual([nothing.code, nothing.requests.length], [2, 0])
  assert.match(nothing.stderr, /--message, --media or both/)
})

test("message edit, delete and react name the message and what is done to it", async (context) => {
  const place = ["--target", "-1001:topic:4", "--message-id", "42"]
  const edit = await ask(context, ["message", "edit", ...place, "-m", "better"], { deliveries: [7], route: {} })
  assert.deepEqual(request(edit), {
    method: "POST",
    path: "/api/message/edit",
    body: { target: "-1001:topic:4", messageId: "42", message: "better", waitSeconds: 10 },
  })
  assert.equal(edit.stdout, "queued for -1001:topic:4 (svc outbox show 7)\n")
  const dry = ["message", "delete", "--target", "t.me/somebody", "--message-id", "42", "--dry-run"]
  const gone = await ask(context, dry, { deliveries: [], route: { chatId: "@somebody" } })
  assert.deepEqual(request(gone).body, { target: "t.me/somebody", messageId: "42", dryRun: true })
  assert.match(gone.stdout, /^nothing was done/)
  const liked = await ask(context, ["message", "react", ...place, "--emoji", "👍"], { deliveries: [8], route: {} })
  assert.deepEqual(request(liked).body, { target: "-1001:topic:4", messageId: "42", emoji: "👍", waitSeconds: 10 })
  const taken = await ask(context, ["message", "react", ...place, "--remove"], { deliveries: [9], route: {} })
  assert.deepEqual(request(taken).body, { target: "-1001:topic:4", messageId: "42", emoji: "", waitSeconds: 10 })
})

test("message edit, delete and react say what is missing before they ask the gateway", async (context) => {
  const cases: [string[], RegExp][] = [
    [["edit", "--target", "1", "--message-id", "2"], /--message/],
    [["edit", "--target", "1", "--message-id", "2", "-m", " "], /--message must not be empty/],
    [["delete", "--target", "1"], /--message-id/],
    [["delete", "--target", "1", "--message-id", "x"], /--message-id must be a number/],
    [["delete", "--target", " ", "--message-id", "2"], /--target must not be empty/],
    [["react", "--target", "1", "--message-id", "2"], /--emoji, or --remove/],
    [["react", "--target", "1", "--message-id", "2", "--emoji", "👍", "--remove"], /--emoji, or --remove/],
  ]
  for (const [words, problem] of cases) {
    const result = await ask(context, ["message", ...words], {})
    assert.deepEqual([result.code, result.requests.length], [2, 0], words.join(" "))
    assert.match(result.stderr, problem)
  }
})

const run = {
  runId: "r1",
  kind: "turn",
  session: "agent:main:main",
  state: "dead",
  attempts: 3,
  createdAt: 0,
  startedAt: 1000,
  finishedAt: null,
  error: "model failed",
  result: null,
}

test("runs lists, and tells how to see older ones without disturbing the output", async (context) => {
  const result = await ask(context, ["runs", "--state", "dead", "--limit", "1"], { items: [run], next: 7 })
  assert.deepEqual(request(result), { method: "GET", path: "/api/runs?limit=1&state=dead", body: undefined })
  assert.match(result.stdout, /^r1 +turn +dead +1970-01-01 00:00:00 +agent:main:main +failed: model failed$/m)
  assert.equal(result.stderr, "older ones: svc runs list --before 7\n")
})

test("runs show prints a run with its steps", async (context) => {
  const steps = [{ n: 1, kind: "prompt", createdAt: 0, data: { text: "a\u001bb" } }]
  const result = await ask(context, ["runs", "show", "r1"], { ...run, input: { say: "hi" }, steps })
  assert.equal(request(result).path, "/api/runs/r1")
  assert.match(result.stdout, /^State +dead, attempts: 3$/m)
  assert.match(result.stdout, /^Step 1 prompt, 1970-01-01 00:00:00\n {2}\{\n {4}"text": "a\\u001bb"\n {2}\}$/m)
})

const delivery = {
  id: 12,
  runId: "r1",
  channel: "chatapp",
  account: "default",
  chatId: "42",
  kind: "text",
  state: "uncertain",
  attempts: 1,
  createdAt: 0,
  sentAt: null,
  remoteId: null,
  error: null,
  preview: "hello",
}

test("the outbox lists, shows and retries, under its old name too", async (context) => {
  const list = await ask(context, ["outbox", "list", "--before", "20"], { items: [delivery], next: null })
  assert.equal(request(list).path, "/api/deliveries?limit=50&before=20")
  assert.match(list.stdout, /^12 +chatapp +42 +text +uncertain +1970-01-01 00:00:00 +hello$/m)
  const show = await ask(context, ["outbox", "show", "12"], { ...delivery, route: {}, payload: { text: "hello" } })
  assert.equal(request(show).path, "/api/deliveries/12")
  assert.match(show.stdout, /^Run +r1$/m)
  const retry = await ask(context, ["deliveries", "retry", "12"], { id: 13 })
  assert.deepEqual([request(retry).method, request(retry).path], ["POST", "/api/deliveries/12/retry"])
  assert.equal(retry.stdout, "message 12 will be sent again as 13\n")
  assert.equal((await ask(context, ["deliveries", "retry", "12x"], {})).code, 2)
})

test("channels updates lists and shows what could not be read", async (context) => {
  const update = {
    id: 3,
    channel: "chatapp",
    account: "default",
    updateId: null,
    receivedAt: 0,
    reason: "no update_id",
  }
  const list = await ask(context, ["channels", "updates"], { items: [update], next: null })
  assert.equal(request(list).path, "/api/updates?limit=50")
  assert.match(list.stdout, /chatapp +default .*no update_id/)
  const show = await ask(context, ["channels", "updates", "show", "3"], {
    ...update,
    botId: "7",
    body: { odd: "\u001b[1m" },
  })
  assert.equal(request(show).path, "/api/updates/3")
  assert.match(show.stdout, /account default, bot 7[^]*"odd": /)
  assert.ok(!show.stdout.includes("\u001b"))
})

test("events lists those of a session", async (context) => {
  const event = { id: 3, session: "s", origin: "webhook", trusted: false, createdAt: 0, shownByRun: null, refusals: 3 }
  const items = [{ ...event, state: "set-aside", text: "a\nb" }]
  const result = await ask(context, ["events", "--session", "agent:main:main"], { items, next: null })
  assert.equal(request(result).path, "/api/events?limit=50&session=agent%3Amain%3Amain")
  assert.match(result.stdout, /^3 +1970-01-01 00:00:00 +s +webhook \(untrusted\) +set-aside +a b$/m)
})

test("channels status asks the platform only with --probe", async (context) => {
  const account = {
    channel: "chatapp",
    account: "default",
    state: "stopped",
    mode: "polling",
    tokenSource: "env",
    counters: {},
  }
  const plain = await ask(context, ["channels", "status"], {
    channels: [{ ...account, uncertain: 3, error: "bad token" }],
  })
  assert.equal(request(plain).path, "/api/channels")
  assert.match(plain.stdout, /^chatapp +default +stopped +polling +env +- +- +- +- +3 +bad token$/m)
  const probed = await ask(
    context,
    ["channels", "status", "--probe"],
    [
      {
        ...account,
        probe: {
          ok: true,
          elapsedMs: 5,
          groups: [{ id: "-7", ok: false, status: "left" }],
          warnings: [{ problem: "the bot is not in group -7 (left)", fix: "Add the bot" }],
        },
      },
    ],
  )
  assert.equal(request(probed).path, "/api/channels?probe=true")
  assert.match(probed.stdout, /works, 5 ms, 1 of 1 groups failed$/m)
  assert.match(probed.stdout, /^- chatapp default: the bot is not in group -7 \(left\)\n {2}fix: Add the bot$/m)
})

test("channels unpin names the accounts in which somebody was pinned", async (context) => {
  const result = await ask(context, "channels unpin chatapp @ann --account two".split(" "), { accounts: ["two"] })
  const body = { name: "@ann", account: "two" }
  assert.deepEqual(request(result), { method: "POST", path: "/api/channels/chatapp/unpin", body })
  assert.equal(result.stdout, "unpinned @ann (two)\n")
})

test("pairing deny sends the code or the sender", async (context) => {
  const result = await ask(context, ["pairing", "deny", "chatapp", "42", "--notify"], { senderId: "42", label: "Eve" })
  const body = { code: "42", notify: true }
  assert.deepEqual(request(result), { method: "POST", path: "/api/pairing/chatapp/deny", body })
  assert.equal(result.stdout, "denied Eve 42\n")
})

test("every command of the configuration takes the state folder that is named, as others do", async () => {
  const folder = temporaryFolder()
  const config = (...words: string[]) => runProgram(["config", ...words, "--state-dir", folder])
  assert.equal((await config("path")).stdout, `${join(folder, "svc.json")}\n`)
  const set = await config("set", "gateway.port", "19000")
  assert.equal(set.code, 0, set.stderr)
  assert.match(readFileSync(join(folder, "svc.json"), "utf8"), /"port": 19000/)
  assert.equal((await config("get", "gateway.port")).stdout.trim(), "19000")
  assert.match((await config("validate")).stdout, new RegExp(`^${join(folder, "svc.json")}: no errors`))
  assert.equal((await config("unset", "gateway.port")).code, 0)
  assert.doesNotMatch(readFileSync(join(folder, "svc.json"), "utf8"), /19000/)
})

test("config is read from the file, without a gateway", async (context) => {
  const result = await ask(context, ["config", "path"], {})
  assert.equal(result.code, 0)
  assert.match(result.stdout, new RegExp(`${join("svc-test-.*", "svc.json")}\n$`))
  assert.equal(result.requests.length, 0)
})

test("browser commands call the control service with the same token", async (context) => {
  const tabs = [{ targetId: "T1", title: "Shop\u001b[2J", url: "https://example.org/", type: "page" }]
  const gateway = await startStandIn(answerJson({ running: true, tabs }))
  const other = await startStandIn(answerJson({}))
  context.after(() => Promise.all([gateway.stop(), other.stop()]))
  other.writeFile({ controlPort: gateway.port, tokenFile: join(gateway.stateFolder, "gateway-token") })
  const words = ["browser", "tabs", "--browser-profile", "managed", "--state-dir", other.stateFolder]
  const text = await runProgram(words)
  assert.deepEqual(text, { code: 0, stdout: "1. Shop [2J\n   https://example.org/\n   id: T1\n", stderr: "" })
  const json = await runProgram([...words, "--json"])
  assert.deepEqual(JSON.parse(json.stdout), { running: true, tabs })
  assert.equal(gateway.requests[0]?.authorization, `Bearer ${standInToken}`)
  assert.deepEqual(
    [...gateway.requests, ...other.requests].map(({ method, path }) => `${method} ${path}`),
    ["GET /tabs?profile=managed", "GET /tabs?profile=managed"],
  )
})

test("a browser command waits as long as its action may take, or as long as --timeout says", async (context) => {
  const result = await ask(context, ["browser", "click", "e12", "--timeout", "150"], () => undefined)
  assert.equal(result.code, 1)
  assert.match(result.stderr, /did not answer within 150 ms/)
  assert.deepEqual(request(result).body, { kind: "click", ref: "e12" })
})

test("browser console takes the words of the console's own methods for their levels", async (context) => {
  for (const level of ["warn", "log"]) {
    const asked = await ask(context, ["browser", "console", "--level", level], {
      ok: true,
      targetId: "T",
      messages: [],
    })
    assert.deepEqual([asked.code, asked.requests[0]?.path], [0, `/console?level=${level}`], asked.stderr)
  }
})

test("a conversation that could not be exported whole leaves no file, and says why", async (context) => {
  const message = { role: "user", content: [{ type: "text", text: "x".repeat(1_000) }] }
  const item = { id: 1, at: 1, message, origin: "chat", trusted: true, isSummary: false }
  let isCut = true
  const gateway = await startStandIn((request, response) => {
    const first = request.path.includes("after=0")
    if (first || !isCut) return answerJson({ items: Array(50).fill(item), next: first ? 5 : null })(request, response)
    answerJson({ ok: false, error: { code: "internal", message: "it broke" } }, 500)(request, response)
  })
  context.after(() => gateway.stop())
  const out = join(gateway.stateFolder, "main.md")
  const words = ["sessions", "export", "agent:main:main", "--out", out]
  const cut = await runProgram(words, gateway)
  assert.deepEqual([cut.code, cut.stderr, existsSync(out)], [1, "error: it broke\n", false])
  isCut = false
  const full = await runFull(words, gateway.environment)
  assert.match(full, /^error: .*main\.md cannot be written: EFBIG[^\n]*\nhint: Name another file with --out\n$/)
  assert.equal(existsSync(out), false)
  assert.equal((await runProgram(words, gateway)).code, 0)
})

/** With no room for a file of more than some kilobytes; says what it printed as an error. */
async function runFull(words: readonly string[], environment: NodeJS.ProcessEnv): Promise<string> {
  const limited = 'trap "" XFSZ; ulimit -f 8; exec "$@"'
  const env: NodeJS.ProcessEnv = { ...inherited(), HOME: "/nonexistent", ...environment }
  delete env["NODE_COMPILE_CACHE"]
  const child = spawn("sh", ["-c", limited, "sh", process.execPath, testedProgram, ...words], { env })
  child.stdout.resume()
  return await text(child.stderr)
}
