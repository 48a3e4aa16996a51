// The page's Browser view: a real Chromium in which somebody looks at what the agent's Chromium does.
import assert from "node:assert/strict"
import { join } from "node:path"
import { before, describe, test } from "node:test"
import { endBrowsersOf } from "../support/left-browsers.ts"
import { type Visitor, launchChromium, visit } from "../support/page-visitor.ts"
import { type PagesServer, startPagesServer } from "../support/pages-server.ts"
import { type World, createWorld, fileContext } from "../support/world.ts"

const context = fileContext()
let world: World
let shop: PagesServer
let visitor: Visitor

before(async () => {
  shop = await startPagesServer({ folder: join(import.meta.dirname, "..", "fixtures", "pages", "shop") })
  context.after(() => shop.stop())
  world = await createWorld(context, { config: { browser: { enabled: true, defaultProfile: "managed" } } })
  context.after(() => endBrowsersOf(world.stateFolder))
  await world.start()
  visitor = await visit(await launchChromium(context), world.gateway)
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
