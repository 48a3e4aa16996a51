// What the agent leaves to its person's hands: passwords that it fills in and never sees, and what it asks before it does.
import assert from "node:assert/strict"
import { test } from "node:test"
import { runProgram } from "../../cli/testing/run-program.ts"
import { bundlePage } from "../support/gateway-bundle.ts"
import { launchChromium } from "../support/page-visitor.ts"
import { endBrowsersOf } from "../support/left-browsers.ts"
import { type LoginSite, startLoginSite } from "../support/login-site.ts"
import { lastPrompt } from "../support/prompts.ts"
import { lastResults, obey, refOf, startSite } from "../support/obedient-model.ts"
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
  await Promise.all([world.start(), bundlePage()])
})()

let opened: ReturnType<typeof launchChromium> | undefined
/** The browser of the person who follows a link. */
const visitor = () => (opened ??= launchChromium(shared))

const svc = (words: string[], input?: string) =>
  runProgram(words, { environment: { SVC_STATE_DIR: world.stateFolder }, ...(input === undefined ? {} : { input }) })

test("a secret that was kept by the command line signs in, and stands in nothing that is written or sent", async () => {
  await started
  const words = ["secrets", "set", "shop", "--origin", site.url]
  const set = await svc(words, "tea-and-honey-9\n")
  assert.equal(set.stdout, `kept shop for ${site.url}\n`, set.stderr)
  assert.match((await svc(["secrets", "set", "shop"], "x")).stderr, /--origin/)
  assert.match((await svc([...words], "")).stderr, /Standard input was empty/)
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

/** Speaks as the page behind a link does. */
async function follow(
  link: string,
  again?: true,
): Promise<{ key: string; call: (path: string, body?: object) => Promise<Response> }> {
  const address = new URL(link)
  const { origin } = address
  const post = (path: string, body: object, key = "") =>
    fetch(`${origin}/takeover/${path}`, {
      method: "POST",
      headers: { origin, "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) },
      body: JSON.stringify(body),
    })
  const claimed = await post("claim", { token: address.hash.slice(1), ...(again ? { again } : {}) })
  const { key = "" } = (await claimed.json()) as { key?: string }
  assert.equal(claimed.status, key === "" ? 401 : 200)
  return {
    key,
    call: (path, body) =>
      body
        ? post(path, body, key)
        : fetch(`${origin}/takeover/${path}`, { headers: { authorization: `Bearer ${key}` } }),
  }
}

const linkIn = (text: string | undefined) =>
  /http:\/\/\S+\/dashboard\/takeover\.html#\S+/.exec(text ?? "")?.[0] ?? "none"

test("a tab is asked to be taken over, typed into by a person, given back: the agent goes on and has seen nothing of it", async () => {
  await started
  const { length: before } = site.posts
  obey(world, {
    "log me in": [
      ["browser", { action: "open", url: site.url }],
      ["browser", { action: "snapshot" }],
      ["browser", { action: "takeover", reason: "Sign in with your password and the code" }],
      "I wait for your hands.",
    ],
    "what does it show": [["browser", { action: "snapshot" }], ["browser", { action: "close" }], "I may not look."],
    "has given the tab below back": [
      ["browser", { action: "snapshot", mode: "full" }],
      ["browser", { action: "requests" }],
      ([page]) => ["browser", { action: "screenshot", ref: refOf(page, "User") }],
      "Thank you.",
    ],
  })
  const sent = world.say("log me in")
  const asked = await world.reply(/Please take over/, { after: sent })
  await world.reply("I wait for your hands.", { after: sent })
  assert.match(asked.text ?? "", /Sign in with your password and the code/)
  await world.gateway.kill("SIGKILL")
  await world.start()
  // The browser has ended with the gateway: the agent is told at once, whoever comes now is, too, and may have the page anew.
  const late = await fetch(new URL("/takeover/claim", linkIn(asked.text)), {
    method: "POST",
    headers: { origin: new URL(linkIn(asked.text)).origin, "content-type": "application/json" },
    body: JSON.stringify({ token: new URL(linkIn(asked.text)).hash.slice(1) }),
  })
  await world.until(
    "it is told that the tab is gone",
    () => world.rows<{ state: string }>("select state from takeover")[0]?.state === "gone" || undefined,
  )
  const isTold = /is gone: the gateway was started anew at [^\n]*, and its browser ended with it/
  await world.model.waitForRequest((request) => isTold.test(lastPrompt(request)))
  const refusal = ((await late.json()) as { error: { code: string; message: string } }).error
  assert.deepEqual([late.status, refusal.code], [410, "tab-gone"])
  assert.match(refusal.message, isTold)
  const anew = await follow(linkIn(asked.text), true)
  const state = JSON.parse(String(await readUntil((await anew.call("stream")).body?.getReader(), 2))) as { url: string }
  assert.equal(state.url, `${site.url}/`)
  assert.equal((await follow(linkIn(asked.text), true)).key, "", "it is opened again once")
  await anew.call("give-back", {})
  await world.reply("Thank you.", { after: sent })
  const again = world.say("log me in")
  const second = await world.reply(/Please take over/, { after: again })
  await world.reply("I wait for your hands.", { after: again })
  const page = await fetch(linkIn(second.text).split("#")[0] as string)
  assert.match(await page.text(), /<title>Take over<\/title>/)
  const hands = await follow(linkIn(second.text))
  assert.equal((await follow(linkIn(second.text))).key, "", "the link works once")
  const stream = (await hands.call("stream?width=800&height=600")).body?.getReader()
  const picture = await readUntil(stream, 1)
  assert.deepEqual([...picture.subarray(0, 2)], [0xff, 0xd8], "a JPEG")
  const meanwhile = world.say("what does it show")
  await world.reply("I may not look.", { after: meanwhile })
  for (const refused of lastResults(world, "what does it show")) assert.match(refused, /tab-taken/)
  const input = async (...events: object[]) => assert.equal((await hands.call("input", { events })).status, 200)
  const tab = (name: string) => ({ kind: "key", event: name, key: "Tab", code: "Tab", keyCode: 9 })
  await input(tab("down"), tab("up"), { kind: "text", text: "ada.lovelace" })
  await input(tab("down"), tab("up"), { kind: "text", text: "correct horse" })
  assert.equal((await hands.call("input", { events: [{ kind: "text" }] })).status, 400)
  await hands.call("give-back", {})
  await world.reply("Thank you.", { after: meanwhile })
  const results = lastResults(world, "has given the tab below back").join("\n")
  assert.match(results, /textbox "User"[^\n]*: ••••••••/)
  assert.match(
    (await svc(["browser", "evaluate", "--fn", "() => document.forms[0].user.value"])).stderr,
    /holds a secret/,
  )
  const whole = JSON.stringify(world.model.requests) + world.gateway.log()
  for (const words of ["ada.lovelace", "correct horse"]) assert.equal(whole.includes(words), false, words)
  for (const table of ["step", "message", "outbox", "audit", "job", "takeover"])
    assert.doesNotMatch(JSON.stringify(world.rows(`select * from ${table}`)), /lovelace|correct horse/, table)
  assert.equal((await hands.call("input", { events: [tab("down")] })).status, 401, "given back is over")
  assert.equal(site.posts.length, before)
  const { items } = await world.gateway.call<{ items: { action: string }[] }>("GET", "/api/audit?action=takeover")
  assert.deepEqual(items.map(({ action }) => action).slice(0, 2), ["takeover.give-back", "takeover.open"])
})

/** The content of the first record of this kind. */
async function readUntil(stream: ReadableStreamDefaultReader<Uint8Array> | undefined, kind: number): Promise<Buffer> {
  let held = Buffer.alloc(0)
  for (;;) {
    const { value, done } = (await stream?.read()) ?? { value: undefined, done: true }
    if (done || !value) assert.fail("the stream has ended")
    held = Buffer.concat([held, value])
    while (held.length >= 5 && held.length >= 5 + held.readUInt32BE(1)) {
      const content = held.subarray(5, 5 + held.readUInt32BE(1))
      if (held[0] === kind) return content
      held = held.subarray(5 + content.length)
    }
  }
}

test("a link by command line, its list, and taking the tab back", async () => {
  await started
  await svc(["browser", "open", site.url])
  const made = await svc(["browser", "takeover", "--reason", "the captcha", "--json"])
  const { url, id } = JSON.parse(made.stdout) as { url: string; id: string }
  const both = await Promise.all([follow(url), follow(url)])
  const [hands, ...others] = both.toSorted((one, other) => other.key.length - one.key.length)
  assert.ok(hands && hands.key !== "" && others[0]?.key === "", "of two at once one has it")
  assert.match((await svc(["browser", "takeover", id.slice(0, 8)])).stderr, /in their hands/)
  assert.match((await svc(["browser", "takeover", "--list"])).stdout, new RegExp(`^${id} +open .*the captcha`, "m"))
  assert.match((await svc(["browser", "snapshot"])).stderr, /A person has this tab/)
  assert.match((await svc(["browser", "takeover", "--end"])).stderr, /hint: svc browser takeover --list/)
  const unknown = await svc(["browser", "takeover", "nothing-of-it", "--end"])
  assert.match(unknown.stderr, /No takeover nothing-of-it waits\nhint: .*svc browser takeover --list/)
  assert.match((await svc(["browser", "takeover", id.slice(0, 8), "--end"])).stdout, /taken back/)
  assert.match((await svc(["browser", "takeover", id, "--end"])).stderr, /over already/)
  assert.equal((await hands.call("")).status, 401)
  assert.match((await svc(["browser", "snapshot"])).stdout, /Password/)
  const wrong = await fetch(new URL("/takeover/stream", url), { headers: { authorization: "Bearer nothing" } })
  assert.equal(wrong.status, 401)
})

test("on a phone: fingers and its keyboard work in the tab, and the button gives it back", async () => {
  await started
  await svc(["browser", "navigate", site.url])
  const code = `() => ["user", "password"].map((name) => document.forms[0][name].getBoundingClientRect().toJSON()).concat({ width: innerWidth })`
  const measured = await svc(["browser", "evaluate", "--fn", code, "--json"])
  const [user, password, tab] = (
    JSON.parse(measured.stdout) as { result: { x: number; y: number; width: number; height: number }[] }
  ).result
  assert.ok(user && password && tab, measured.stdout + measured.stderr)
  const { url } = JSON.parse((await svc(["browser", "takeover", "--json"])).stdout) as { url: string }
  const browser = await visitor()
  const place = await browser.newContext({ viewport: { width: 390, height: 700 }, hasTouch: true, isMobile: true })
  const page = await place.newPage()
  const complaints: string[] = []
  page.on("pageerror", (error) => complaints.push(String(error)))
  page.on("console", (message) => void (message.type() === "error" && complaints.push(message.text())))
  await page.goto(url)
  await page.locator("#message").waitFor({ state: "hidden" })
  assert.equal(new URL(page.url()).hash, "", "the token does not stay in the address")
  const tap = async ({ x, y, width, height }: { x: number; y: number; width: number; height: number }) => {
    const box = await page.locator("#picture").boundingBox()
    assert.ok(box)
    const scale = box.width / tab.width
    await page.touchscreen.tap(box.x + (x + width / 2) * scale, box.y + (y + height / 2) * scale)
    await page.locator("#keys:focus").waitFor({ state: "attached" })
  }
  await tap(user)
  await page.keyboard.insertText("Grüße 日本")
  await tap(password)
  await page.keyboard.type("pass phrase")
  await page.keyboard.press("Backspace")
  await page.keyboard.press("Enter")
  await world.until("the form is sent", () => (site.posts.at(-1)?.["user"] === "Grüße 日本" ? true : undefined))
  assert.equal(site.posts.at(-1)?.["password"], "pass phras")
  await page.getByRole("button", { name: "Give back" }).tap()
  await page.getByText("given back").first().waitFor()
  assert.deepEqual(complaints, [])
  assert.match((await svc(["browser", "snapshot"])).stdout, /Welcome/)
})

const order = `<!doctype html><title>Order</title><style>body > * { display: block; margin: 12px }</style>
<label>Size <select id="size"><option>Small<optgroup label="Rare"><option>Large<option disabled>Huge</optgroup></select></label>
<input type="date" id="day" aria-label="Day"><input type="file" id="letter" hidden>
<button id="file" onclick="letter.click()">Add a letter</button><button id="ask" onclick="fetch('/sure?' + confirm('Really?'))">Ask</button>
<a id="more" href="/more" target="_blank">More</a>
<script>size.onchange = () => fetch('/size?' + size.value); day.onchange = () => fetch('/day?' + day.value)</script>`

test("what the browser itself would open is offered beside the picture: lists, calendars, questions, windows; of files it is told", async (context) => {
  await started
  const shop = await startSite(context, (path) => (path === "/" ? order : "<title>more</title>"))
  await svc(["browser", "open", shop.url])
  const code = `() => Object.fromEntries(["size", "day", "file", "ask", "more"].map((id) => [id, document.getElementById(id).getBoundingClientRect().toJSON()]).concat([["all", { width: innerWidth }]]))`
  const measured = await svc(["browser", "evaluate", "--fn", code, "--json"])
  const { result: boxes } = JSON.parse(measured.stdout) as {
    result: Record<string, { x: number; y: number; width: number; height: number }>
  }
  const { url } = JSON.parse((await svc(["browser", "takeover", "--json"])).stdout) as { url: string }
  const browser = await visitor()
  const page = await (await browser.newContext({ viewport: { width: 1000, height: 800 } })).newPage()
  await page.goto(url)
  await page.locator("#message").waitFor({ state: "hidden" })
  const press = async (id: string) => {
    const box = await page.locator("#picture").boundingBox()
    const { x, y, width, height } = boxes[id] ?? { x: 0, y: 0, width: 0, height: 0 }
    assert.ok(box && width > 0, id)
    const scale = box.width / (boxes["all"]?.width ?? 1)
    await page.mouse.click(box.x + (x + width / 2) * scale, box.y + (y + height / 2) * scale)
  }
  const arrived = (path: string) => world.until(path, () => (shop.requests.includes(path) ? true : undefined), 20_000)
  const choice = page.locator("#choice")

  await press("size")
  await choice.getByText("Rare").waitFor()
  assert.deepEqual(await choice.getByRole("button").allTextContents(), ["Small", "Large", "Huge", "Cancel"])
  assert.equal(await choice.getByRole("button", { name: "Huge" }).isDisabled(), true)
  await choice.getByRole("button", { name: "Large" }).click()
  await arrived("/size?Large")
  // By the keyboard, too; and let alone.
  await page.keyboard.press("Space")
  assert.equal(await choice.getByRole("button", { name: "Large" }).getAttribute("aria-pressed"), "true")
  await choice.getByRole("button", { name: "Cancel" }).click()
  await choice.waitFor({ state: "hidden" })

  await press("day")
  await choice.getByLabel("Day").fill("2026-12-24")
  await choice.getByRole("button", { name: "OK" }).click()
  await arrived("/day?2026-12-24")
  await press("file")
  await choice.getByText(/ask the agent to upload it/).waitFor()
  await choice.getByRole("button", { name: "OK" }).click()
  await press("ask")
  await page.locator("#question").getByText("Really?").waitFor()
  await page.locator("#question").getByRole("button", { name: "OK" }).press("Enter")
  // The next keys are the tab's at once, and go to what stands behind the button there.
  await page.keyboard.press("Tab")
  await page.keyboard.press("Enter")
  await arrived("/sure?true")
  await arrived("/more")
  await page.locator("header").getByRole("button", { name: "1", exact: true }).click()
  await page.getByRole("button", { name: "Give back" }).click()
  await page.getByText("given back").first().waitFor()
  assert.equal(shop.requests.filter((path) => path.startsWith("/size")).length, 1)
})
