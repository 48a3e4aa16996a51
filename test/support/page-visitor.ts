// Somebody at the gateway's page: a real Chromium, signed in by a link, that keeps what the console and the network
// complained about.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { type Browser, type Page, chromium } from "playwright-core"
import type { TestContext } from "node:test"
import { visitorArguments } from "./chromium.ts"
import { bundlePage } from "./gateway-bundle.ts"
import type { RunningGateway } from "./gateway.ts"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

export interface Visitor {
  page: Page
  /** Of the console and of scripts, since the last time it was asked. */
  complaints(): string[]
  /** Opens what stands behind the mark, and waits until it shows something. */
  open(place: string): Promise<void>
  /** After the document was loaded anew. */
  inject(): Promise<void>
  /** What axe-core finds against WCAG 2.2 AA, as lines; in the whole document, or in what the selector finds. */
  findBarriers(inside?: string, withContrast?: boolean): Promise<string[]>
  /** Goes through what is open by Tab, from the main part's begin to its end, and says what speaks against it. */
  walk(): Promise<string[]>
  /** By how much the document or its content is wider than the window. */
  sidewaysRoom(): Promise<number>
}

export async function launchChromium(context: Pick<TestContext, "after">): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: process.env["SVC_TEST_CHROMIUM"] ?? "/usr/bin/chromium",
    // Without an emulated graphics card in a process of its own a visit costs a fifth less of the processor.
    args: [...visitorArguments, "--disable-gpu", "--in-process-gpu"],
  })
  context.after(() => browser.close())
  return browser
}

export async function linkOf(gateway: RunningGateway): Promise<string> {
  await bundlePage()
  return (await gateway.call<{ url: string }>("POST", "/api/page/links", {})).url
}

export async function visit(browser: Browser, gateway: RunningGateway): Promise<Visitor> {
  const place = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" })
  const page = await place.newPage()
  let heard: string[] = []
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") heard.push(message.text())
  })
  page.on("pageerror", (error) => heard.push(String(error)))
  await page.goto(await linkOf(gateway))
  await page.locator("nav").waitFor({ state: "attached" })
  await page.evaluate(axe)
  return {
    page,
    complaints() {
      const told = heard
      heard = []
      return told
    },
    async open(hash) {
      const [name = ""] = hash.replace(/^#\//, "").split(/[/?]/)
      await page.evaluate(`(${opened})(${JSON.stringify(hash)}, ${JSON.stringify(name)})`)
    },
    inject: () => page.evaluate(axe).then(() => undefined),
    findBarriers: (inside, withContrast) => findBarriers(page, inside, withContrast),
    walk: () => walk(page),
    sidewaysRoom: () =>
      page.evaluate<number>(
        `Math.max(...[document.documentElement, document.getElementById("main")].map((box) => box.scrollWidth - box.clientWidth))`,
      ),
  }
}

/** In one call to the browser: what is asked again and again at each frame costs more than the page that is looked at. */
const opened = `(hash, name) => new Promise((resolve, reject) => {
  const isOpen = () =>
    document.querySelector('nav a[aria-current=page][href$="#/' + name + '"]') && document.querySelector("#main h1") &&
    !document.body.textContent.includes("Loading…")
  const end = (how, what) => (observer.disconnect(), clearTimeout(timer), how(what))
  // Whole when several frames have changed nothing: what follows its first picture, such as a focus, has come too.
  let still = 0
  const look = () => {
    still = isOpen() ? still + 1 : 0
    if (still > 6) end(resolve)
    else requestAnimationFrame(look)
  }
  const observer = new MutationObserver(() => (still = 0))
  const timer = setTimeout(() => end(reject, Error(hash + " does not open: " + document.body.innerText.slice(0, 500))), 30_000)
  const begin = () => {
    observer.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true })
    look()
  }
  if (location.hash === hash) return begin()
  // After the page's own listener.
  addEventListener("hashchange", () => setTimeout(begin), { once: true })
  location.hash = hash
})`

const widths = [360, 768, 1440]
/**
 * With the variable set every page is looked at by axe-core at every width, light and dark; else at one of the six, in
 * turns a phone in the dark and a large window. Contrast, which costs as much as all else, comes from the one stylesheet
 * of all pages: else every third page is asked about it.
 */
const isLong = process.env["SVC_LONG_TESTS"] === "1"

/** What speaks against each place: sideways scrolling, barriers, complaints of the console. */
export async function findFaults(visitor: Visitor, places: readonly string[]): Promise<string[]> {
  const { page } = visitor
  const found: string[] = []
  for (const [index, place] of places.entries()) {
    await visitor.open(place)
    // To and fro: each place begins with the width at which the one before has ended.
    for (const width of index % 2 === 0 ? widths : widths.toReversed()) {
      await page.setViewportSize({ width, height: 800 })
      if ((await visitor.sidewaysRoom()) > 0) found.push(`${place} at ${width} scrolls sideways`)
      for (const colorScheme of ["light", "dark"] as const) {
        const [ownWidth, ownScheme] = index % 2 === 0 ? [360, "dark"] : [1440, "light"]
        if (!isLong && (width !== ownWidth || colorScheme !== ownScheme)) continue
        await page.emulateMedia({ colorScheme })
        // Menu and head are the same everywhere.
        const inside = isLong || index < 2 ? undefined : "#main"
        for (const barrier of await visitor.findBarriers(inside, isLong || index % 3 < 1))
          found.push(`${place} ${width} ${colorScheme} ${barrier}`)
      }
    }
    for (const complaint of visitor.complaints()) found.push(`${place} ${complaint}`)
  }
  return found
}

interface AxeResult {
  violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[]
}

async function findBarriers(page: Page, inside?: string, withContrast = true): Promise<string[]> {
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
  const rules = { "color-contrast": { enabled: withContrast } }
  const how = {
    runOnly: { type: "tag", values: tags },
    rules,
    resultTypes: ["violations"],
    // There are no frames, and no stylesheets or films from elsewhere.
    iframes: false,
    preload: false,
  }
  const where = inside === undefined ? "document" : JSON.stringify(inside)
  const result = await page.evaluate<AxeResult>(`axe.run(${where}, ${JSON.stringify(how)})`)
  assert.ok(Array.isArray(result.violations))
  return result.violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`)
}

/** Notes in the page what gets the focus, and what is wrong with how it shows that. */
const notes = `(() => {
  const main = document.getElementById("main")
  const name = (one) => one.tagName.toLowerCase() + " " + (one.ariaLabel || one.innerText || one.name || "").trim().slice(0, 40)
  const takers = "a[href], button:not(:disabled), input:not(:disabled), select, textarea, summary, [tabindex='0']"
  const wanted = [...main.querySelectorAll(takers)].filter((one) => one.checkVisibility() && one.tabIndex >= 0)
  const seen = [], faults = []
  const look = ({ target }) => {
    seen.push(target)
    const { width, height, top, bottom } = target.getBoundingClientRect()
    const shown = [target, target.parentElement].some((one) => getComputedStyle(one).outlineStyle !== "none")
    if (!shown) faults.push(name(target) + " does not show that it has the focus")
    if (width * height === 0 || bottom < 0 || top > innerHeight) faults.push(name(target) + " has the focus out of sight")
  }
  document.activeElement.blur()
  main.focus()
  main.addEventListener("focusin", look)
  globalThis.endWalk = () => {
    main.removeEventListener("focusin", look)
    const left = wanted.filter((one) => one.isConnected && !seen.includes(one)).map((one) => name(one) + " is not reached by Tab")
    const order = seen.filter((one, at) => at > 0 && seen[at - 1].isConnected && one.isConnected && !(seen[at - 1].compareDocumentPosition(one) & 4))
    return [...faults, ...left, ...order.map((one) => name(one) + " comes out of its order")]
  }
  // A field for a date has a stop for each of its parts.
  // What comes while it is walked, a card whose answer took longer, has stops of its own.
  const most = wanted.reduce((sum, one) => sum + (one.type === "datetime-local" ? 8 : 1), 5)
  globalThis.isWalked = () => wanted.every((one) => !one.isConnected || seen.includes(one))
  return [wanted.length, most]
})()`

async function walk(page: Page): Promise<string[]> {
  const [count, most] = await page.evaluate<[number, number]>(notes)
  // All at once, in order: as somebody does who knows the way.
  await Promise.all(Array.from({ length: count }, () => page.keyboard.press("Tab")))
  for (let n = count; n < most && !(await page.evaluate<boolean>("isWalked()")); n += 1)
    await page.keyboard.press("Tab")
  return await page.evaluate<string[]>("endWalk()")
}
