// The page, as people meet it: in a real Chromium, at a gateway that runs as a process of its own.
import assert from "node:assert/strict"
import { join } from "node:path"
import { before, describe, test } from "node:test"
import { endBrowsersOf } from "../support/left-browsers.ts"
import { type PagesServer, startPagesServer } from "../support/pages-server.ts"
import { createWorld, fileContext, until, type World } from "../support/world.ts"
import { type Visitor, findFaults, launchChromium, linkOf, visit } from "../support/page-visitor.ts"
import { lastPrompt } from "../support/prompts.ts"
import type { Browser } from "playwright-core"

const context = fileContext()
const hostile = `<img src=x onerror="globalThis.owned=1"><script>globalThis.owned=1</script>'"\u202e\u0000](javascript:owned=1)`
let world: World
let shop: PagesServer
let browser: Browser
let visitor: Visitor
let runId = ""

before(async () => {
  shop = await startPagesServer({ folder: join(import.meta.dirname, "..", "fixtures", "pages", "shop") })
  context.after(() => shop.stop())
  world = await createWorld(context, { config: { browser: { enabled: true, defaultProfile: "managed" } } })
  context.after(() => endBrowsersOf(world.stateFolder))
  world.model.reply(`An answer ${hostile}`)
  await world.start()
  const sent = world.say(`Hello ${hostile}`)
  await world.reply(/An answer/, { after: sent })
  await world.hook("agent", { message: `Build ${hostile}`, name: hostile })
  await world.hook("nowhere", { note: hostile })
  await world.until("all has been done", async () => {
    const { items } = await world.gateway.call<{ items: { state: string; runId: string; asked: string }[] }>(
      "GET",
      "/api/runs",
    )
    runId = items.find(({ asked }) => asked.startsWith("Hello"))?.runId ?? ""
    return items.length >= 2 && items.every(({ state }) => state === "done") ? true : undefined
  })
  browser = await launchChromium(context)
  visitor = await visit(browser, world.gateway)
})

const places = () => [
  "#/now",
  "#/runs",
  `#/runs/${runId}`,
  "#/webhooks",
  "#/webhooks/1",
  "#/webhooks/try",
  "#/messages",
  "#/messages/1",
  "#/logs",
]
describe("the page", () => {
  test("fits every width, light and dark, has no barriers, and nothing complains", async () => {
    assert.deepEqual(await findFaults(visitor, places()), [])
  })

  test("shows hostile texts as texts, in every list and every detail", async () => {
    const { page } = visitor
    await page.setViewportSize({ width: 1440, height: 900 })
    for (const place of [`#/runs/${runId}`, "#/webhooks/1", "#/messages/1"]) {
      await visitor.open(place)
      if (place.startsWith("#/runs")) await page.locator("#main summary").first().click()
      assert.match((await page.locator("#main").innerText()).replaceAll(/\\"/g, '"'), /<img src=x onerror=/, place)
    }
    assert.equal(await page.evaluate(() => (globalThis as { owned?: number }).owned), undefined)
    assert.equal(await page.locator("#main img").count(), 0)
  })

  test("is used by keyboard alone: menu, list, one of it, and back", async () => {
    const { page } = visitor
    await visitor.open("#/now")
    const focused = () => page.evaluate<string>("document.activeElement.textContent.trim()")
    await page.evaluate("document.activeElement.blur()")
    const tabTo = async (words: RegExp) => {
      for (let n = 0; n < 40; n += 1) {
        await page.keyboard.press("Tab")
        if (words.test(await focused())) return
      }
      assert.fail(`Tab does not lead to ${words}`)
    }
    await tabTo(/^Runs$/)
    await page.keyboard.press("Enter")
    await page.locator("#main .row").first().waitFor()
    await tabTo(/^Hello/)
    await page.keyboard.press("Enter")
    await page.locator(".timeline").waitFor()
    await tabTo(/^All runs$/)
    await page.keyboard.press("Enter")
    await page.locator("#main .row").first().waitFor()
  })

  test("asks for what the first view shows at once, and for nothing twice", async () => {
    const page = await visitor.page.context().newPage()
    // Without the stream nothing says that what was read may have changed.
    await page.route("**/api/stream", () => undefined)
    let asked: string[] = []
    page.on("request", (request) => void (request.method() === "GET" && asked.push(new URL(request.url()).pathname)))
    for (const [place, path] of [
      ["now", "/api/status"],
      ["runs", "/api/runs"],
      ["webhooks", "/api/hooks"],
      ["messages", "/api/deliveries"],
      ["approvals", "/api/approvals"],
      ["sessions", "/api/sessions"],
      ["settings/audit", "/api/audit"],
    ] as const) {
      await page.goto("about:blank")
      asked = []
      await page.goto(`http://127.0.0.1:${world.gateway.port}/dashboard/#/${place}`, { waitUntil: "commit" })
      await page.locator("#main :is(.card, .row, .empty)").first().waitFor()
      const own = asked.filter((one) => one === path)
      assert.deepEqual([own, asked.indexOf(path) < asked.indexOf("/api/page/session")], [[path], true], place)
    }
    await page.close()
  })

  test("reads older rows though a refresh has overtaken the question for them", async () => {
    const page = await visitor.page.context().newPage()
    let held = 0
    await page.route(/\/api\/hooks\?/, async (route) => {
      const url = new URL(route.request().url())
      const isOlder = url.searchParams.has("before")
      if (isOlder && (held += 1) === 1) return
      if (!isOlder) url.searchParams.set("limit", "1")
      await route.continue({ url: String(url) })
    })
    const older = page.waitForRequest(/\/api\/hooks\?.*before=/)
    await page.goto(`http://127.0.0.1:${world.gateway.port}/dashboard/#/webhooks`)
    await older
    await page.getByText("Live", { exact: true }).waitFor()
    await world.hook("nowhere", { note: "newer" })
    const { items } = await world.gateway.call<{ items: object[] }>("GET", "/api/hooks")
    assert.ok(items.length > 2)
    await page
      .locator("#main .row")
      .nth(items.length - 1)
      .waitFor()
    assert.equal(await page.locator("#main .row").count(), items.length)
    await page.close()
  })

  test("goes on by itself when the gateway is killed and starts again: nothing is missing, nothing is there twice", async () => {
    const { page } = visitor
    await visitor.open("#/runs")
    await page.evaluate(() => ((globalThis as { same?: boolean }).same = true))
    await page.getByText("Live", { exact: true }).waitFor()
    await world.gateway.kill("SIGKILL")
    await page.getByText("Connecting…").waitFor()
    await page.getByRole("alert").filter({ hasText: "may be old" }).waitFor()
    await world.start()
    await world.hook("agent", { message: "after the restart", name: "Late" })
    await page.getByText("Live", { exact: true }).waitFor()
    assert.equal(await page.getByText("may be old").count(), 0)
    const all = () => world.gateway.call<{ items: { runId: string; state: string }[] }>("GET", "/api/runs?limit=100")
    const shown = () =>
      page
        .locator("#main .row")
        .evaluateAll((rows) =>
          rows.map(
            (row) =>
              `${row.querySelector("a")?.getAttribute("href")?.slice(7)} ${row.querySelector(".badge")?.textContent}`,
          ),
        )
    await until("the list is that of the gateway", async () => {
      const wanted = (await all()).items.map(({ runId: id, state }) => `${id} ${state}`)
      return JSON.stringify(await shown()) === JSON.stringify(wanted) && wanted.length >= 3 ? true : undefined
    })
    assert.equal(await page.evaluate(() => (globalThis as { same?: boolean }).same), true)
    visitor.complaints()
  })

  test("runs a turn again from a step, when somebody says so: a run of its own that names the first", async () => {
    const { page } = visitor
    await visitor.open(`#/runs/${runId}`)
    const asked = () => world.model.requests.filter((request) => lastPrompt(request).includes("Hello")).length
    const before = asked()
    await page.getByRole("button", { name: "Again from here: step 1" }).click()
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.getByRole("button", { name: "Again from here: step 1" }).click()
    await page.locator("dialog").getByRole("button", { name: "Run again" }).click()
    await page.locator(`#main .facts a[href$="/${runId}"]`).waitFor()
    await page.getByText("Ended").waitFor()
    assert.equal(asked(), before + 1)
    await page.locator(`#main .facts a[href$="/${runId}"]`).click()
    await page.getByText("Repeated by").waitFor()
    await assert.rejects(
      world.gateway.call("POST", `/api/runs/${runId}/again`, { step: 99 }),
      /400 .*Step 99 is none .*Possible are: 1"/,
    )
  })

  test("pauses everything when somebody says so, and lets it go on", async () => {
    const { page } = visitor
    await visitor.open("#/now")
    await page.getByRole("button", { name: "Pause all" }).click()
    await page.getByText("Everything is paused").waitFor()
    const { paused } = await world.gateway.call<{ paused: unknown }>("GET", "/api/pause")
    assert.notEqual(paused, null)
    await page.getByRole("button", { name: "Resume" }).click()
    await page.getByRole("button", { name: "Pause all" }).waitFor()
    assert.deepEqual((await world.gateway.call<{ paused: unknown }>("GET", "/api/pause")).paused, null)
  })

  test("a long list is as tall as all its rows that are known, holds few of them, and ends with the first run", async () => {
    const { page } = visitor
    await visitor.open("#/runs")
    await world.gateway.kill("SIGKILL")
    await page.getByText("Connecting…").waitFor()
    world.change(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 1500)
      insert into job (run_id, kind, lane_key, payload, state, head, attempts, run_at, created_at, finished_at)
      select 'many-' || i, 'turn', 'agent:main:many', '{"text":"Number ' || i || '"}', 'done', 0, 1, 0, ${Date.now()}, ${Date.now()} from n`)
    await world.start()
    await page.getByText("Number 1500", { exact: true }).waitFor()
    const end = page.locator(`#main a[href$="${runId}"]`)
    const size = await until("the end is reached", () =>
      page.evaluate<number | undefined>(
        `(() => { const main = document.getElementById("main"); main.scrollTop = main.scrollHeight
          const rows = document.querySelectorAll(".row"), box = document.querySelector(".rows")
          const last = Number(rows[rows.length - 1].ariaPosInSet), size = Number(rows[0].ariaSetSize)
          const isWhole = rows.length < 60 && last === size && box.clientHeight === size * rows[0].offsetHeight
          return isWhole ? size : undefined })()`,
      ),
    )
    assert.ok(size >= 1_503)
    await end.waitFor()
    // By when, too: fields for dates are such fields only after the rows are shown.
    await page.locator('[type="datetime-local"]').nth(1).waitFor()
    await page.getByLabel("From", { exact: true }).fill("2026-01-01T00:00")
    await page.getByLabel("To", { exact: true }).fill("2026-01-02T00:00")
    await page.getByText("Nothing matches").waitFor()
    await visitor.open("#/runs/none-of-this-id")
    await page.getByText("There is no run none-of-this-id").waitFor()
    await page.getByRole("link", { name: "Back" }).click()
    await end
      .or(page.getByText("Number 1500", { exact: true }))
      .first()
      .waitFor()
    visitor.complaints()
  })

  test("a link works once; without a session there is a way in, and a sign-out ends everything", async () => {
    const { page } = visitor
    const link = await linkOf(world.gateway)
    const place = await browser.newContext()
    const other = await place.newPage()
    await other.goto(link.replace(/#.*/, ""))
    await other.getByLabel("Link, code or token").waitFor()
    assert.equal(await other.getByRole("alert").textContent(), "", "whoever has never been here has done nothing wrong")
    await other.goto("about:blank")
    await other.goto(link)
    await other.getByText("Live", { exact: true }).waitFor()
    await other.getByRole("heading", { name: "Now" }).waitFor()
    assert.equal(new URL(other.url()).hash, "")
    // A used link ends nothing: the session that there is stands. An address that cannot be read is one of nothing.
    await other.evaluate(`location.href = ${JSON.stringify(link)}`)
    await other.waitForFunction(`location.hash === ""`)
    await other.getByRole("heading", { name: "Now" }).waitFor()
    await other.evaluate(`location.hash = "#/runs/%"`)
    await other.getByText("There is nothing under this path").waitFor()
    await other.evaluate(() => localStorage.clear())
    await other.evaluate(`location.href = ${JSON.stringify(link)}`)
    await other.getByRole("heading", { name: "svc" }).waitFor()
    await other.getByText("This link has been used").waitFor()
    await place.close()
    await page.getByRole("button", { name: "Sign out" }).click()
    await page.getByLabel("Link, code or token").fill(await linkOf(world.gateway))
    await page.keyboard.press("Enter")
    await page.getByText("Live", { exact: true }).waitFor()
    assert.deepEqual(
      (await page.context().cookies()).map(({ httpOnly, sameSite }) => [httpOnly, sameSite]),
      [[true, "Strict"]],
    )
  })

  test("no other site can frame it or use its session", async () => {
    const { page } = visitor
    const frame = await browser.newPage()
    await frame.setContent(`<iframe src="${world.gateway.url}/dashboard/"></iframe>`)
    const inner = frame.frames()[1]
    await inner?.waitForLoadState().catch(() => undefined)
    assert.equal(
      (await inner
        ?.locator("#page")
        .count()
        .catch(() => 0)) ?? 0,
      0,
    )
    await frame.close()
    const answer = await page.evaluate(async () => (await fetch("../api/runs")).status)
    assert.equal(answer, 401)
    visitor.complaints()
  })
})

/** As the agent and the command line do it. */
async function control(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const { controlUrl, token } = world.gateway
  const response = await fetch(`${controlUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  })
  return (await response.json()) as Record<string, unknown>
}

// Somebody looks at what the agent's Chromium does.
describe("the page's browser", () => {
  test("looking starts nothing; a person starts a browser, opens a tab and sees it as it is", async () => {
    const { page } = visitor
    await visitor.open("#/browser")
    await page.getByText("a browser of its own").waitFor()
    assert.equal((await control("GET", "/")).running, false)
    await page.getByRole("button", { name: "Start managed" }).click()
    await page.getByLabel("Address").fill(shop.url)
    await page.getByRole("button", { name: "Open in managed" }).click()
    await page.getByRole("heading", { name: "Corner Shop", level: 2 }).waitFor()
    const picture = page.getByAltText("The tab as it is now")
    await picture.waitFor()
    const before = await picture.getAttribute("src")
    const seen = `document.querySelector(".cast img")`
    assert.ok(await page.evaluate(`${seen}.decode().then(() => ${seen}.naturalWidth > 100)`))
    await control("POST", "/act", { kind: "evaluate", fn: "() => void (document.body.style.background = 'navy')" })
    await world.until("the picture is another", async () => (await picture.getAttribute("src")) !== before || undefined)
  })

  test("a live tab is gone through by keyboard: its buttons, its address and each line of the snapshot", async () => {
    await visitor.page.getByRole("button", { name: /Add Honey/ }).waitFor()
    assert.deepEqual(await visitor.walk(), [])
  })

  test("its refs light up in the picture, and the picture shows which line is meant", async () => {
    const { page } = visitor
    const line = page.getByRole("button", { name: /button "Add Honey to basket"/ })
    await line.focus()
    const lit = page.locator(".cast .lit")
    await lit.waitFor()
    const { result } = (await control("POST", "/act", {
      kind: "evaluate",
      fn: "() => { const box = [...document.querySelectorAll('button')].find((b) => b.textContent.includes('Honey')).getBoundingClientRect(); return [box.x / innerWidth, box.width / innerWidth] }",
    })) as { result: [number, number] }
    const none = { x: 0, y: 0, width: 0, height: 0 }
    const cast = (await page.locator(".cast").boundingBox()) ?? none
    const box = (await lit.boundingBox()) ?? none
    assert.ok(Math.abs((box.x - cast.x) / cast.width - result[0]) < 0.01)
    assert.ok(Math.abs(box.width / cast.width - result[1]) < 0.01)
    await page.mouse.move(cast.x + 3, cast.y + cast.height / 2)
    await lit.waitFor({ state: "detached" })
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
    await lit.waitFor()
    assert.equal(await line.getAttribute("aria-pressed"), "true")
  })

  test("a person takes the tab over from here", async () => {
    const { page } = visitor
    const here = page.url()
    await page.getByRole("button", { name: "Take over" }).click()
    await page.waitForURL(/takeover/)
    await page.goto(here)
    await page.getByRole("heading", { name: "Corner Shop", level: 2 }).waitFor()
    const { takeovers } = await world.gateway.call<{ takeovers: { id: string }[] }>("GET", "/api/browser/takeovers")
    assert.equal(takeovers.length, 1)
    await world.gateway.call("POST", `/api/browser/takeovers/${takeovers[0]?.id}/end`, {})
    await page.getByRole("button", { name: "Read again" }).click()
    await page.getByRole("button", { name: /Add Honey/ }).waitFor({ timeout: 10_000 })
    await visitor.inject()
    visitor.complaints()
  })

  test("fits a phone and a large window without barriers, and its agent's diff and default tab stay as they were", async () => {
    const { page } = visitor
    const other = await control("POST", "/tabs/open", { url: "about:blank" })
    await control("GET", `/snapshot?targetId=${String(other["targetId"])}`)
    await page.getByRole("button", { name: "Read again" }).click()
    assert.equal((await control("GET", "/snapshot"))["targetId"], other["targetId"])
    const found: string[] = []
    for (const [width, colorScheme] of [
      [360, "dark"],
      [1440, "light"],
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.emulateMedia({ colorScheme })
      if ((await visitor.sidewaysRoom()) > 0) found.push(`${width} scrolls sideways`)
      found.push(...(await visitor.findBarriers()))
    }
    assert.deepEqual([found, visitor.complaints()], [[], []])
  })

  test("a tab that is closed says so; tabs that are not there and tokens without the scope are refused", async () => {
    const { page } = visitor
    const targetId = decodeURIComponent(new URL(page.url()).hash.split("/").at(-1) ?? "")
    await control("DELETE", `/tabs/${targetId}`)
    await page.getByText("The tab is closed").waitFor()
    await visitor.open("#/browser")
    await page.getByRole("link", { name: /blank/ }).first().waitFor()
    const live = (query: string, token = world.gateway.token) =>
      fetch(`${world.gateway.url}/api/browser/live?${query}`, { headers: { authorization: `Bearer ${token}` } })
    assert.equal((await live(`profile=managed&targetId=${targetId}`)).status, 404)
    assert.equal((await live("profile=managed")).status, 400)
    assert.equal((await live("profile=nowhere&targetId=a")).status, 404)
    const { token } = await world.gateway.call<{ token: string }>("POST", "/api/tokens", {
      name: "looker",
      scopes: ["status"],
    })
    assert.equal((await live("profile=managed&targetId=a", token)).status, 403)
    await page.getByRole("button", { name: "Stop managed" }).click()
    await page.getByRole("button", { name: "Start managed" }).waitFor()
  })
})
