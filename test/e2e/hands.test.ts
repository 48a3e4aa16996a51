// What the agent leaves to its person's hands: passwords that it fills in and never sees, and what it asks before it does.
import assert from "node:assert/strict"
import { test } from "node:test"
import { runProgram } from "../../cli/testing/run-program.ts"
import { endBrowsersOf } from "../support/left-browsers.ts"
import { type LoginSite, startLoginSite } from "../support/login-site.ts"
import { lastResults, obey, refOf } from "../support/obedient-model.ts"
import { type World, createWorld, fileContext } from "../support/world.ts"

const shared = fileContext()
let world: World
let site: LoginSite

const started = (async () => {
  site = await startLoginSite()
  shared.after(() => site.stop())
  world = await createWorld(shared, {
    config: {
      browser: { enabled: true, defaultProfile: "managed" },
      agents: {
        defaults: {
          tools: {
            confirm: [
              { tool: "browser", actions: ["click"], sites: [new URL(site.url).host] },
              { tool: "message", channels: ["none"] },
            ],
          },
        },
        list: [{ id: "main", tools: { deny: ["exec"], confirm: ["message:send"] } }],
      },
    },
  })
  shared.after(() => endBrowsersOf(world.stateFolder))
  await world.start()
})()

const svc = (words: string[], input?: string) =>
  runProgram(words, { environment: { SVC_STATE_DIR: world.stateFolder }, ...(input === undefined ? {} : { input }) })

test("a secret that was kept by the command line signs in, and stands in nothing that is written or sent", async () => {
  await started
  const words = ["secrets", "set", "shop", "--origin", site.url]
  const set = await svc(words, "tea-and-honey-9\n")
  assert.equal(set.stdout, `kept shop for ${site.url}\n`, set.stderr)
  assert.match((await svc(["secrets", "set", "shop"], "x")).stderr, /--origin/)
  assert.match((await svc(["secrets", "set", "Shop!", "--origin", site.url], "x")).stderr, /lower-case/)
  assert.match((await svc(["secrets", "set", "far", "--origin", "http://shop.example"], "x")).stderr, /not encrypted/)
  obey(world, {
    "sign in at": [
      ["browser", { action: "open", url: site.url }],
      ["browser", { action: "snapshot" }],
      ([, page]) => [
        "browser",
        {
          action: "act",
          request: { kind: "fill", fields: [{ ref: refOf(page, "Password"), secret: "shop" }], submit: true },
        },
      ],
      ["browser", { action: "snapshot", mode: "full" }],
      "I am in.",
    ],
  })
  const sent = world.say("sign in at the shop")
  await world.reply("I am in.", { after: sent })
  assert.deepEqual(
    site.posts.map((post) => post["password"]),
    ["tea-and-honey-9"],
  )
  const [opened, , , page] = lastResults(world, "sign in at")
  assert.match(opened ?? "", /Kept secrets for this page: shop/)
  assert.match(page ?? "", /Signed in with \[a secret of the gateway\]/)
  assert.equal(JSON.stringify(world.model.requests).includes("tea-and-honey"), false)
  assert.equal(world.gateway.log().includes("tea-and-honey"), false)
  for (const table of ["secret", "step", "message", "outbox", "audit", "job"]) {
    assert.equal(JSON.stringify(world.rows(`select * from ${table}`)).includes("tea-and-honey"), false, table)
  }
  const list = await svc(["secrets", "list"])
  assert.match(list.stdout, new RegExp(`^shop +${site.url} +kept here +password +\\d`, "m"))
  await svc(["secrets", "remove", "shop"])
  assert.equal((await svc(["secrets", "list"])).stdout, "no secrets\n")
  const { items } = await world.gateway.call<{ items: { action: string; target: string; outcome: string }[] }>(
    "GET",
    "/api/audit?action=secret",
  )
  assert.deepEqual(items.map(({ action, target, outcome }) => `${action} ${target} ${outcome}`).toReversed(), [
    "secret.set shop ok",
    "secret.set  status 400",
    "secret.set far status 400",
    "secret.remove shop ok",
  ])
})

test("a click that the owner wants to be asked about waits as a row, through a kill, and is made once when it is allowed", async () => {
  await started
  const { length: before } = site.posts
  obey(world, {
    "press the button": [
      ["browser", { action: "open", url: site.url }],
      ["browser", { action: "snapshot" }],
      ([, page]) => ["browser", { action: "act", request: { kind: "click", ref: refOf(page, "Sign in") } }],
      "I wait for you.",
    ],
    "has allowed the call": [
      ["browser", { action: "open", url: site.url }],
      ["browser", { action: "snapshot" }],
      ([, page]) => ["browser", { action: "act", request: { kind: "click", ref: refOf(page, "Show password") } }],
      ([, page]) => ["browser", { action: "act", request: { kind: "click", ref: refOf(page, "Sign in") } }],
      "Pressed once.",
    ],
  })
  const sent = world.say("press the button")
  const question = await world.reply(/May I\?/, { after: sent })
  assert.match(question.text ?? "", /You want to be asked before I do this/)
  assert.match(
    question.text ?? "",
    new RegExp(`click the button "Sign in" on a page of ${new URL(site.url).host}[^]*"name": "Sign in"`),
  )
  await world.reply("I wait for you.", { after: sent })
  assert.equal(site.posts.length, before)
  await world.gateway.kill("SIGKILL")
  await world.start()
  world.emulator.control.click({
    userId: world.ada.id,
    chatId: question.chat.id,
    messageId: question.message_id,
    text: "Allow once",
  })
  await world.reply("Pressed once.", { after: sent })
  assert.equal(site.posts.length, before + 1, lastResults(world, "has allowed the call").join("\n"))
  const [row] = world.rows<{ state: string; text: string }>("select state from approval where text like '%Sign in%'")
  assert.equal(row?.state, "used")
  assert.match(lastResults(world, "has allowed the call")[2] ?? "", /Not done/, "nothing else was allowed")
})

test("rules of the agent and of the defaults count together, and a no is told in words", async () => {
  await started
  const bob = await world.addPerson({ id: 1002, firstName: "Bob" })
  await world.reconfigure({ channels: { chatapp: { allowFrom: [world.ada.id, bob.id] } } })
  obey(world, {
    "write to Bob": [["message", { action: "send", to: String(bob.id), message: "Lunch at noon?" }], "I have asked."],
    "has denied the call": ["I did not write to Bob."],
  })
  const greeted = world.emulator.control.messages({ chatId: bob.id, limit: 10 }).at(-1)
  const sent = world.say("write to Bob")
  const question = await world.reply(/May I\?/, { after: sent })
  assert.match(question.text ?? "", /Send a message to the private chat 1002[^]*Lunch at noon\?/)
  const id = world.rows<{ id: string }>("select id from approval order by asked_at desc")[0]?.id ?? ""
  assert.match((await svc(["approvals", "deny", id])).stdout, /Denied/)
  await world.reply("I did not write to Bob.", { after: sent })
  assert.deepEqual(world.botTexts(bob, greeted), [])
})
