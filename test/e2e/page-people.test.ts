// The pages of people, approvals, schedules, sessions, usage and settings, in a real Chromium, at a gateway with a
// conversation, a person who asks to be let in, and a question of the agent.
import assert from "node:assert/strict"
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { before, describe, test } from "node:test"
import { startProgram } from "../../cli/testing/run-program.ts"
import { obey } from "../support/obedient-model.ts"
import { type Visitor, findFaults, launchChromium, visit } from "../support/page-visitor.ts"
import { temporaryFolder } from "../support/temporary.ts"
import { createWorld, fileContext, type World } from "../support/world.ts"

const context = fileContext()
const hostile = `<img src=x onerror="globalThis.owned=1">'"](javascript:owned=1)`
let world: World
let visitor: Visitor
let approvalId = ""
const text = async () => await visitor.page.locator("#main").innerText()

before(async () => {
  const groups = { "-100200": { requireMention: true } }
  world = await createWorld(context, {
    config: {
      channels: { chatapp: { groups } },
      budget: { day: { tokens: 1_000_000 } },
      cron: { jobs: [{ id: "yearly", cron: "0 3 1 1 *", text: `Greet ${hostile}` }] },
    },
  })
  const call = ["message", { action: "send", to: "1002", message: `a letter ${hostile}` }] as ["message", object]
  obey(world, { "as the letter says": [call as never, `I wait ${hostile}`] })
  for (const [name, words] of [
    ["orders", `---\ndescription: How to look up ${hostile}\n---\nOpen the shop ${hostile}`],
    ["empty", ""],
  ] as const) {
    mkdirSync(join(world.stateFolder, "workspace", "skills", name), { recursive: true })
    writeFileSync(join(world.stateFolder, "workspace", "skills", name, "SKILL.md"), words)
  }
  writeFileSync(join(world.stateFolder, "workspace", "MEMORY.md"), `# Ada\n\nTakes the ferry ${hostile}\n`)
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
  fill(600)
  visitor = await visit(await launchChromium(context), world.gateway)
})

/** A long conversation, in a session that nobody else writes to. */
const long = "agent:main:terminal:long"
function fill(messages: number): void {
  const database = new DatabaseSync(join(world.stateFolder, "svc.db"))
  database.exec("pragma busy_timeout = 5000; begin immediate")
  database
    .prepare(
      "insert into session (key, agent_id, session_id, created_at, updated_at) values (?, 'main', 'long-1', 1, 1)",
    )
    .run(long)
  const add = database.prepare(
    "insert into message (session_id, message, created_at, origin, trusted, tokens) values ('long-1', ?, ?, 'owner', 1, 5)",
  )
  for (let n = 1; n <= messages; n += 1) {
    const message = { role: "user", content: [{ type: "text", text: `word number ${n} ${n === 300 ? hostile : ""}` }] }
    add.run(JSON.stringify(message), n)
  }
  database.exec("commit")
  database.close()
}

const places = () => [
  "#/people",
  "#/people/groups",
  "#/people/explain?chat=1003",
  "#/approvals",
  `#/approvals/${approvalId}`,
  "#/sessions",
  "#/sessions?text=letter",
  "#/sessions/agent%3Amain%3Amain",
  "#/usage",
  "#/usage?by=session&since=7d",
  "#/settings",
  "#/settings?section=channels",
  "#/settings/access",
  "#/settings/audit",
  "#/settings/backups",
  "#/settings/nodes",
  "#/settings/secrets",
  "#/memory",
  "#/memory?text=ferry",
  "#/memory/MEMORY.md",
  "#/skills",
  "#/skills/main/orders",
  "#/schedules",
  "#/schedules?ended=true",
]

describe("people, approvals, sessions, usage and settings", () => {
  test("fit every width, light and dark, have no barriers, and nothing complains", async () => {
    assert.deepEqual(await findFaults(visitor, places()), [])
  })

  test("is gone through by keyboard: each page in order, nothing left out, the focus in sight; dialogs keep and return it", async () => {
    const { page } = visitor
    await page.setViewportSize({ width: 1440, height: 900 })
    const focused = () => page.evaluate<string>("document.activeElement.ariaLabel ?? document.activeElement.innerText")
    const found: string[] = []
    await world.hook("agent", { message: "Walk by" })
    const runId = world.rows<{ run_id: string }>("select run_id from job where kind = 'turn' order by id limit 1")[0]
      ?.run_id
    const others = ["#/now", "#/chat", "#/runs", `#/runs/${runId}`, "#/webhooks/1", "#/webhooks/try", "#/messages/1"]
    for (const place of [...places(), ...others, "#/browser"]) {
      await visitor.open(place)
      for (const fault of await visitor.walk()) found.push(`${place} ${fault}`)
    }
    assert.deepEqual(found, [])
    await page.evaluate("document.activeElement.blur(), scrollTo(0, 0), document.querySelector('.skip').focus()")
    assert.ok(((await page.locator(".skip").boundingBox())?.x ?? -1) >= 0)
    await page.keyboard.press("Enter")
    assert.equal(await page.evaluate("document.activeElement.id"), "main")
    await visitor.open(`#/sessions/${encodeURIComponent(long)}`)
    await page.getByRole("button", { name: "Delete" }).focus()
    await page.keyboard.press("Enter")
    await page.getByRole("dialog").waitFor()
    assert.equal(await focused(), "Cancel")
    for (let n = 0; n < 5; n += 1) {
      await page.keyboard.press("Tab")
      assert.ok(
        await page.evaluate("document.activeElement === document.body || document.activeElement.closest('dialog')"),
      )
    }
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    assert.equal(await focused(), "Delete")
    await page.setViewportSize({ width: 360, height: 800 })
    await page.getByRole("button", { name: "Menu" }).press("Enter")
    await page.keyboard.press("Tab")
    await page.getByRole("link", { name: "Runs" }).waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("link", { name: "Runs" }).waitFor({ state: "hidden" })
    assert.equal(await focused(), "Menu")
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  test("hostile names and texts are text", async () => {
    for (const place of [
      "#/people",
      `#/approvals/${approvalId}`,
      "#/skills",
      "#/skills/main/orders",
      "#/memory?text=ferry",
      "#/schedules",
    ]) {
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
    await page.getByText("Nothing matches").waitFor()
  })

  test("words of a long conversation are found, and it is read in both directions with few messages in the page", async () => {
    const { page } = visitor
    await visitor.open("#/sessions")
    await page.getByLabel("Words in all conversations").fill("number 300")
    await page.locator("#main .row a", { hasText: "number 300" }).click()
    const box = page.locator(".transcript")
    await page.locator("article.wanted", { hasText: "word number 300 <img" }).waitFor()
    const numbers = async () =>
      (await box.locator(".words").allInnerTexts()).map((words) => Number(/number (\d+)/.exec(words)?.[1]))
    const scroll = async (to: number, wanted: number) => {
      await world.until(`message ${wanted} is reached`, async () => {
        await box.evaluate((element, top) => ((element as unknown as { scrollTop: number }).scrollTop = top), to)
        return (await numbers()).includes(wanted) ? true : undefined
      })
    }
    await scroll(1e6, 600)
    await scroll(0, 1)
    const shown = await numbers()
    assert.ok(shown.length <= 250)
    assert.deepEqual(
      shown,
      Array.from({ length: shown.length }, (_, index) => index + 1),
    )
  })

  test("a conversation goes on while it is open, is exported, and deleted", async () => {
    const { page } = visitor
    await visitor.open("#/sessions/agent%3Amain%3Amain")
    world.say("one more question")
    await page.locator(".words", { hasText: "one more question" }).waitFor()
    const waits = page.waitForEvent("download")
    await page.getByRole("button", { name: "Markdown" }).click()
    const saved = await waits
    assert.equal(saved.suggestedFilename(), "agent-main-main.md")
    assert.match(readFileSync(await saved.path(), "utf8"), /^# Session agent:main:main\n[^]*one more question/)
    await visitor.open(`#/sessions/${encodeURIComponent(long)}`)
    await page.getByRole("button", { name: "Delete" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await page.getByText("Deleted").waitFor()
    assert.deepEqual(world.rows("select 1 from message where session_id = 'long-1'"), [])
    assert.equal(await page.locator("#main .row", { hasText: long }).count(), 0)
  })

  test("usage is shown by day, model, session and run, and leads to them; a cap that is reached is lifted", async () => {
    const { page } = visitor
    await world.reconfigure({ budget: { day: { tokens: 10 } } })
    await visitor.open("#/usage")
    await page.getByText(/[\d,]+ tokens of 10 tokens/).waitFor()
    await page.getByRole("button", { name: "Allow 100,000 tokens more" }).click()
    await page.getByText(/of 100,010 tokens/).waitFor()
    await world.reconfigure({ budget: { month: { tokens: 10 } } })
    await visitor.open("#/usage?since=7d")
    await page.getByRole("button", { name: "Off until tomorrow" }).click()
    await page.locator(".badge", { hasText: "lifted" }).waitFor()
    await visitor.open("#/usage?by=job")
    await page.getByRole("img", { name: /the same stands in the list by day/ }).waitFor()
    await page.locator("#main .row a").first().click()
    await page.locator(".timeline").waitFor()
  })

  test("the configuration is changed by a form: checked while it is typed, with its difference, comments kept", async () => {
    const { page } = visitor
    const path = join(world.stateFolder, "svc.json")
    const before = `// Mine\n${readFileSync(path, "utf8").trim().slice(0, -1).trimEnd()},\n  "session": {"resetTriggers": ["/new"], // short\n  },\n}\n`
    writeFileSync(path, before)
    await world.until("the gateway uses it", async () => {
      const { fields } = await world.gateway.call<{ fields: { key: string; place?: object }[] }>(
        "GET",
        "/api/config/fields?section=session",
      )
      return fields.find(({ key }) => key === "session.resetTriggers")?.place
    })
    await visitor.open("#/settings?section=messages")
    await page.getByLabel("responsePrefix").fill("[${HOME}]")
    await page.getByText(/values of the environment .* are set in the file itself/).waitFor()
    await page.getByLabel("responsePrefix").fill(`[${hostile}]`)
    await page.locator(".diff .new", { hasText: "responsePrefix" }).waitFor()
    await page.getByLabel("Section").selectOption("logging")
    await page.getByLabel("consoleLevel").selectOption("debug")
    // What was typed outlives a reload.
    await page.reload()
    await page.getByRole("heading", { name: "2 changes" }).waitFor()
    await page.getByLabel("Section").selectOption("delivery")
    await page.getByRole("button", { name: "Save" }).waitFor()
    await page.getByLabel("Section").selectOption("approvals")
    await page.getByLabel("validMinutes").fill("soon")
    await page.getByText("must be a number, not text").first().waitFor()
    assert.equal(await page.getByRole("button", { name: "Save" }).isDisabled(), true)
    await page.getByLabel("validMinutes").fill("7")
    await page.locator(".diff .new", { hasText: "validMinutes" }).waitFor()
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Saved: in use").waitFor()
    const after = readFileSync(path, "utf8")
    assert.match(after, /^\/\/ Mine\n[^]*\/\/ short/)
    const config = await world.gateway.call<{ fields: { key: string; written?: unknown }[] }>(
      "GET",
      "/api/config/fields?section=messages",
    )
    assert.equal(config.fields.find(({ key }) => key === "messages.responsePrefix")?.written, `[${hostile}]`)
    await page.getByText("Set in svc.json, line").first().waitFor()
    assert.match(await text(), /validMinutes/)
  })

  test("keys that guard the door, and secrets, are shown and refused", async () => {
    const { page } = visitor
    await visitor.open("#/settings?section=channels&text=botToken")
    assert.match(await text(), /chatapp\.botToken[^]*\*\*\*[^]*secret/)
    assert.equal(await page.getByLabel("chatapp.botToken").count(), 0)
    const refused = world.gateway.call("POST", "/api/config/check", {
      changes: [{ key: "channels.chatapp.allowFrom", value: ["*"] }],
    })
    await assert.rejects(refused, /config-write-refused/)
    const blind = world.gateway.call("POST", "/api/config/save", {
      changes: [{ key: "approvals.validMinutes", value: 8 }],
      revision: "other",
    })
    await assert.rejects(blind, /conflict/)
  })

  test("a token is made, shown once, used and revoked, and the audit log tells of it", async () => {
    const { page } = visitor
    await visitor.open("#/settings/access")
    await page.getByLabel("Name").fill("backup script")
    await page.getByLabel("Ends after").fill("30d")
    await page.getByRole("button", { name: "Make it" }).click()
    const token = await page.locator(".code pre").innerText()
    const status = () =>
      fetch(`${world.gateway.url}/api/status`, { headers: { authorization: `Bearer ${token}` } }).then(
        (it) => it.status,
      )
    assert.equal(await status(), 200)
    await page.getByRole("button", { name: "Revoke backup script" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click()
    await page.getByText("backup script is revoked").waitFor()
    assert.equal(await status(), 401)
    await visitor.open("#/settings/audit?action=token")
    await page.locator("#main .row", { hasText: "token.revoke backup script" }).waitFor()
    const rows = await page.locator("#main .row").allInnerTexts()
    assert.deepEqual(
      rows.map((row) => /token\.\w+/.exec(row)?.[0]),
      ["token.revoke", "token.create"],
    )
    const { items, next } = await world.gateway.call<{ items: { id: number }[]; next: number }>(
      "GET",
      "/api/audit?limit=1",
    )
    const older = await world.gateway.call<{ items: { id: number }[] }>("GET", `/api/audit?limit=1&before=${next}`)
    assert.deepEqual([next, older.items.some(({ id }) => id === next)], [items[0]?.id, false])
  })

  test("a backup is made by hand and listed", async () => {
    const { page } = visitor
    await visitor.open("#/settings/backups")
    await page.getByText("No backups yet").waitFor()
    await page.getByRole("button", { name: "Make one now" }).click()
    await page.locator("#main .row", { hasText: "by hand" }).waitFor({ timeout: 50_000 })
    await page.getByRole("button", { name: "Make one now" }).waitFor()
    assert.equal(readdirSync(join(world.stateFolder, "backups")).length, 1)
  })

  test("skills are shown with their text, and those left out with the reason", async () => {
    await visitor.open("#/skills")
    assert.match(await text(), /empty SKILL\.md is empty\s+left out\s+orders How to look up/)
  })

  test("a note is found, changed, and not saved over what somebody else has written", async () => {
    const { page } = visitor
    const file = join(world.stateFolder, "workspace", "MEMORY.md")
    await visitor.open("#/memory?text=ferry")
    await page.locator("#main .row a").click()
    const field = page.getByLabel("Note of main")
    await field.fill("# Ada\n\nTakes the train\n")
    await page.reload()
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Saved").waitFor()
    assert.equal(readFileSync(file, "utf8"), "# Ada\n\nTakes the train\n")
    await field.fill("# Ada\n\nTakes the bus\n")
    writeFileSync(file, "# Ada\n\nWalks\n")
    await page.getByRole("button", { name: "Save" }).click()
    await page.locator(".toast.bad").waitFor()
    assert.equal(readFileSync(file, "utf8"), "# Ada\n\nWalks\n")
    await page.getByRole("button", { name: "Discard" }).click()
    visitor.complaints()
  })

  test("a schedule is made, paused, run at once and removed; one of the configuration is removed there", async () => {
    const { page } = visitor
    await visitor.open("#/schedules")
    assert.equal(await page.getByRole("button", { name: "Pause yearly" }).count(), 1)
    assert.equal(await page.getByRole("button", { name: "Remove yearly" }).count(), 0)
    await page.getByLabel("What the agent is told").fill("Count the boats")
    await page.getByLabel("When").selectOption("every")
    await page.getByLabel("Time", { exact: true }).fill("soon")
    await page.getByRole("button", { name: "Add" }).click()
    await page.locator(".toast.bad", { hasText: "every" }).getByRole("button", { name: "Close" }).click()
    await page.getByLabel("Time", { exact: true }).fill("6h")
    await page.getByRole("button", { name: "Add" }).click()
    const card = page.locator(".card", { hasText: "every 360 min" })
    const badge = (words: string) => card.locator(".badge", { hasText: words }).waitFor()
    await badge("active")
    await card.getByRole("button", { name: "Pause" }).click()
    await badge("paused")
    await card.getByRole("button", { name: "Run" }).click()
    await badge("ok")
    assert.match((await card.getByRole("link", { name: "Run" }).getAttribute("href")) ?? "", /^#\/runs\/./)
    await card.getByRole("button", { name: "Remove" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
    await card.waitFor({ state: "detached" })
    await page.getByLabel("Also those that are over").click()
    await badge("ended")
    assert.equal(await card.getByRole("button").count(), 1)
    visitor.complaints()
  })

  test("a secret is kept for its origins, never shown, and removed; one without a whole origin is refused", async () => {
    const { page } = visitor
    await visitor.open("#/settings/secrets")
    await page.getByLabel("Name", { exact: true }).fill("shop-password")
    await page.getByLabel("Pages that get it").fill("shop.example")
    await page.getByLabel("Value", { exact: true }).fill("correct horse battery")
    await page.getByRole("button", { name: "Keep it" }).click()
    await page.locator(".toast.bad", { hasText: "origin" }).getByRole("button", { name: "Close" }).click()
    await page.getByLabel("Pages that get it").fill("https://shop.example https://login.shop.example")
    await page.getByRole("button", { name: "Keep it" }).click()
    const row = page.locator("#main .row", { hasText: "shop-password" })
    await row.getByText("https://login.shop.example, https://shop.example").waitFor()
    assert.equal(await page.getByLabel("Value", { exact: true }).inputValue(), "")
    await page.getByLabel("Name", { exact: true }).fill("bank-code")
    await page.getByLabel("Where it is").selectOption("totp")
    await page.getByLabel("Item").fill("Bank")
    await page.getByRole("button", { name: "Keep it" }).click()
    await page.locator("#main .row", { hasText: "bank-code" }).waitFor()
    const { secrets } = await world.gateway.call<{ secrets: { name: string; source: string }[] }>("GET", "/api/secrets")
    assert.deepEqual(secrets.map(({ name, source }) => [name, source]).sort(), [
      ["bank-code", "bw"],
      ["shop-password", "stored"],
    ])
    assert.doesNotMatch(await page.content(), /correct horse/)
    await page.getByRole("button", { name: "Remove shop-password" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
    await row.waitFor({ state: "detached" })
  })

  test("a machine that asks to offer its browser is let in, renamed, and put out", async () => {
    const { page } = visitor
    const folder = temporaryFolder()
    writeFileSync(join(folder, "svc.json"), "{}", { mode: 0o600 })
    const words = ["node", "run", "--gateway", `ws://127.0.0.1:${world.port}`, "--state-dir", folder]
    const node = startProgram(words, { environment: { SVC_GATEWAY_PORT: String(world.port + 10) } })
    context.after(() => node.ended)
    context.after(() => node.child.kill("SIGTERM"))
    await visitor.open("#/settings/nodes")
    await page.setViewportSize({ width: 360, height: 780 })
    await page.reload()
    await page.getByRole("button", { name: /^Approve / }).waitFor()
    // What is to be compared can be read, on a phone too, and stands in the question once more.
    const line = page.locator("#main .row .cut", { hasText: "Code " })
    const code = /^Code (\S+) · /.exec(await line.innerText())?.[1] ?? ""
    assert.ok(code.length > 4 && (await line.evaluate((one) => one.scrollWidth <= one.clientWidth)))
    await page.getByRole("button", { name: /^Approve / }).click()
    await page.getByRole("dialog").getByText(code).waitFor()
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click()
    await page.locator("#main .row .badge", { hasText: "approved" }).waitFor()
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.getByRole("button", { name: /^Rename / }).press("Enter")
    await page.getByLabel("Name", { exact: true }).fill("attic")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Revoke attic" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click()
    await page.locator("#main .row .badge", { hasText: "revoked" }).waitFor()
  })
})
