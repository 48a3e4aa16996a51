// What the agent leaves to its person's hands: passwords that it fills in and never sees.
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
    config: { browser: { enabled: true, defaultProfile: "managed" } },
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
