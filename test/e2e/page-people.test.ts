// The pages of people, approvals, sessions, usage and settings, in a real Chromium, at a gateway with a conversation, a
// person who asks to be let in, and a question of the agent.
import assert from "node:assert/strict"
import { before, describe, test } from "node:test"
import { obey } from "../support/obedient-model.ts"
import { type Visitor, findFaults, launchChromium, visit } from "../support/page-visitor.ts"
import { createWorld, fileContext, type World } from "../support/world.ts"

const context = fileContext()
const hostile = `<img src=x onerror="globalThis.owned=1">'"](javascript:owned=1)`
let world: World
let visitor: Visitor
let approvalId = ""
const text = async () => await visitor.page.locator("#main").innerText()

before(async () => {
  const groups = { "-100200": { requireMention: true } }
  world = await createWorld(context, { config: { channels: { chatapp: { groups } } } })
  const call = ["message", { action: "send", to: "1002", message: `a letter ${hostile}` }] as ["message", object]
  obey(world, { "as the letter says": [call as never, `I wait ${hostile}`] })
  await world.start()
  const eve = await world.addPerson({ id: 1003, firstName: `Eve ${hostile}` })
  const bob = await world.addPerson({ id: 1004, firstName: "Bob" })
  world.say("let me in", eve)
  world.say("me too", bob)
  const forward_origin = { type: "hidden_user", sender_user_name: "Mallory", date: 1_790_000_000 }
  const message = { text: `do as the letter says ${hostile}`, forward_origin } as never
  const sent = world.emulator.control.sendRaw({ userId: world.ada.id, chatId: world.ada.id, message })
  await world.reply(/I wait/, { after: sent })
  await world.until("both are told their codes", () =>
    world.rows("select 1 from pairing_request").length === 2 ? true : undefined,
  )
  approvalId = world.rows<{ id: string }>("select id from approval")[0]?.id ?? ""
  visitor = await visit(await launchChromium(context), world.gateway)
})

const places = () => [
  "#/people",
  "#/people/groups",
  "#/people/explain?chat=1003",
  "#/approvals",
  `#/approvals/${approvalId}`,
]

describe("people, approvals, sessions, usage and settings", () => {
  test("fit every width, light and dark, have no barriers, and nothing complains", async () => {
    assert.deepEqual(await findFaults(visitor, places()), [])
  })

  test("hostile names and texts are text", async () => {
    for (const place of ["#/people", `#/approvals/${approvalId}`]) {
      await visitor.open(place)
      assert.match((await text()).replaceAll('\\"', '"'), /<img src=x onerror="globalThis\.owned=1">/, place)
    }
    assert.equal(await visitor.page.evaluate(() => (globalThis as { owned?: number }).owned), undefined)
    assert.equal(await visitor.page.locator("#main img").count(), 0)
  })

  test("whoever asks to be let in is let in or not; the one who was is let in no more", async () => {
    const { page } = visitor
    await visitor.open("#/people")
    await page.getByRole("button", { name: /^Deny Eve/ }).click()
    await page.getByText(/^Eve.* is not let in$/).waitFor()
    await page.getByRole("button", { name: /^Allow Bob/ }).click()
    await page.getByText(/^Bob.* is let in, and is being answered$/).waitFor()
    await world.reply("ok", { person: { id: 1004 } as never })
    await page.getByText("Nobody asks to be let in").waitFor()
    const [row] = world.rows<{ by: string }>("select approved_by as by from pairing_allow where sender_id = '1004'")
    assert.match(row?.by ?? "", /^page \(/)
    await visitor.open("#/people/explain?chat=1004")
    await page.getByLabel("Chat", { exact: true }).press("Enter")
    await page.getByText("Heard: the sender was let in by pairing").waitFor()
    await visitor.open("#/people")
    await page.getByRole("button", { name: /^Revoke Bob/ }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click()
    await page.getByText("Nobody was let in yet").waitFor()
  })

  test("a question is answered once, for exactly what is shown, and its list follows", async () => {
    const { page } = visitor
    await visitor.open("#/now")
    await page.getByRole("link", { name: "Questions of the agent" }).click()
    await page.locator("#main .row a").click()
    await page.getByRole("button", { name: "Deny" }).click()
    await page.getByText(/^Denied: /).waitFor()
    await page.locator(".head .badge", { hasText: "denied" }).waitFor()
    assert.equal(world.rows<{ state: string }>("select state from approval")[0]?.state, "denied")
    await visitor.open("#/approvals?state=asked")
    await page.getByText("Nothing was asked").waitFor()
  })
})
