// The page: how soon it shows something with a hundred thousand rows in each of its lists, how smoothly they scroll, and
// what fifty pages that are open cost the gateway.
import { readFileSync } from "node:fs"
import { setTimeout as delay } from "node:timers/promises"
import { type Browser, type Page, chromium } from "playwright-core"
import { visitorArguments } from "../../test/support/chromium.ts"
import type { Bench, Figure } from "../figure.ts"
import { BenchGateway, hookToken } from "../gateway.ts"
import { median } from "../statistics.ts"
import { checkKept, fill, rows } from "./fill.ts"

/** Address of each long list, and what stands in it. */
const lists: [place: string, what: string][] = [
  ["runs", "runs"],
  ["webhooks", "webhook deliveries"],
  ["messages", "messages out"],
  ["sessions", "sessions"],
  ["approvals", "approvals"],
  ["settings/audit", "lines of the audit log"],
]
const pages = 50
const watchMs = 10_000
/** How long a list may take to read all its rows. */
const readMs = 60_000

export const page: Bench = { name: "page", section: "page", run }

async function run(): Promise<Figure[]> {
  const gateway = new BenchGateway()
  await gateway.configure({})
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    // Drawn by the processor itself: an emulated graphics card takes more of it than the page does.
    args: [...visitorArguments, "--disable-gpu"],
  })
  try {
    await gateway.start()
    await gateway.kill("SIGTERM")
    fill(gateway)
    await gateway.start()
    const looked = await look(gateway, browser)
    checkKept(gateway)
    return [...looked, ...(await crowd(gateway))]
  } finally {
    await browser.close()
    await gateway.stop()
  }
}

async function look(gateway: BenchGateway, browser: Browser): Promise<Figure[]> {
  const place = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const { url } = JSON.parse(await gateway.svc("dashboard", "--json")) as { url: string }
  const first = await place.newPage()
  await first.goto(url)
  await first.getByText("Live", { exact: true }).waitFor()
  const now = await viewTimes(place, gateway, "now", ".parts")
  const floor = await framesOf(await emptyPage(place))
  const figures = [figure("first view of the page, from loopback", "100 ms", now, 100)]
  for (const [name, what] of lists) {
    const view = await viewTimes(place, gateway, name, ".row")
    const seen = await place.newPage()
    await seen.goto(addressOf(gateway, name))
    await seen.locator(".row").first().waitFor()
    const frames = await scroll(seen)
    await seen.close()
    figures.push(figure(`first view of ${rows.toLocaleString("en")} ${what}`, "150 ms", view, 150), {
      what: `scrolling through ${frames.rows.toLocaleString("en")} ${what}`,
      target: "60 frames a second",
      measured: `${frames.perSecond.toFixed(1)} frames a second (an empty page that scrolls: ${floor.perSecond.toFixed(1)}), ${frames.busyMs.toFixed(1)} ms of the main thread a frame`,
      met: frames.rows >= rows && frames.perSecond >= Math.min(59, floor.perSecond * 0.97),
    })
  }
  return figures
}

const addressOf = ({ port }: BenchGateway, name: string) => `http://127.0.0.1:${port}/dashboard/#/${name}`

/** How long a new tab has to come to rest: who goes to a page has it open. */
const restMs = 500

/**
 * Milliseconds from the begin of the navigation until what the selector finds is in a frame that was drawn. Nothing runs
 * in the tab meanwhile but the page and one observer: what a driver puts into it to wait costs as much as the page.
 */
async function viewTimes(
  place: Awaited<ReturnType<Browser["newContext"]>>,
  gateway: BenchGateway,
  name: string,
  selector: string,
): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < 9; n += 1) {
    const each = await place.newPage()
    const session = await place.newCDPSession(each)
    await session.send("Page.enable")
    await session.send("Runtime.enable")
    await session.send("Runtime.addBinding", { name: "tellSeen" })
    await session.send("Page.addScriptToEvaluateOnNewDocument", {
      source: `new MutationObserver((_, own) => {
        if (!document.querySelector(${JSON.stringify(selector)})) return
        own.disconnect()
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel()
          port1.onmessage = () => tellSeen(String(performance.now()))
          port2.postMessage(0)
        })
      }).observe(document, { childList: true, subtree: true })`,
    })
    await delay(restMs)
    const told = new Promise<number>((resolve) =>
      session.once("Runtime.bindingCalled", ({ payload }) => resolve(Number(payload))),
    )
    await session.send("Page.navigate", { url: addressOf(gateway, name) })
    const late = delay(readMs, undefined, { ref: false }).then(() => Promise.reject(new Error(`${name} was not seen`)))
    times.push(await Promise.race([told, late]))
    await each.close()
  }
  return median(times)
}

/** Until all rows are on the page, then upwards. */
async function scroll(seen: Page): Promise<Frames & { rows: number }> {
  const reached = await seen.evaluate<number>(`(async () => {
    const main = document.getElementById("main")
    const size = () => document.querySelector(".rows").clientHeight / document.querySelector(".row").offsetHeight
    for (const end = performance.now() + ${readMs}; size() < ${rows} && performance.now() < end;) {
      main.scrollTop = main.scrollHeight
      await new Promise(requestAnimationFrame)
    }
    return size()
  })()`)
  return { rows: reached, ...(await framesOf(seen)) }
}

interface Frames {
  perSecond: number
  /** Of the page's main thread, its own time alone, for each frame. */
  busyMs: number
}

/** While the page scrolls three seconds, as fast as a hand turns a wheel. */
async function framesOf(seen: Page): Promise<Frames> {
  const session = await seen.context().newCDPSession(seen)
  await session.send("Performance.enable", { timeDomain: "threadTicks" })
  const busy = async () => {
    const { metrics } = await session.send("Performance.getMetrics")
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1_000
  }
  const before = await busy()
  const [count, ms] = await seen.evaluate<[number, number]>(`(async () => {
    const main = document.getElementById("main")
    const frame = () => new Promise(requestAnimationFrame)
    const began = await frame()
    let count = 0
    let last = began
    for (; last < began + 3_000; count += 1) {
      main.scrollTop -= 160
      last = await frame()
    }
    return [count, last - began]
  })()`)
  return { perSecond: (count / ms) * 1_000, busyMs: ((await busy()) - before) / count }
}

async function emptyPage(place: Awaited<ReturnType<Browser["newContext"]>>): Promise<Page> {
  const empty = await place.newPage()
  await empty.setContent(
    `<div id="main" style="height: 900px; overflow: auto"><div style="height: 6000000px"></div></div>`,
  )
  await empty.evaluate(`document.getElementById("main").scrollTop = 6000000`)
  return empty
}

/** Readers of the event stream, as pages are that are open, while a run a second goes by. */
async function crowd(gateway: BenchGateway): Promise<Figure[]> {
  const headers = { authorization: `Bearer ${gateway.token}` }
  const stream = (signal: AbortSignal) =>
    fetch(`http://127.0.0.1:${gateway.port}/api/stream`, { headers, signal }).then(async ({ body }) => {
      for await (const _ of body ?? []) if (signal.aborted) return
    })
  const work = async () => {
    for (const end = Date.now() + watchMs; Date.now() < end; await delay(1_000)) {
      await fetch(`http://127.0.0.1:${gateway.port}/hooks/agent`, {
        method: "POST",
        headers: { authorization: `Bearer ${hookToken}`, "content-type": "application/json" },
        body: JSON.stringify({ message: "say hello", wakeMode: "next-heartbeat" }),
      })
    }
  }
  const measure = async () => {
    const before = cpuMs(gateway)
    await work()
    return (cpuMs(gateway) - before) / watchMs
  }
  await work()
  const alone = { mb: gateway.residentMb(), share: await measure() }
  const control = new AbortController()
  const open = Array.from({ length: pages }, () => stream(control.signal).catch(() => undefined))
  const share = await measure()
  const mb = Math.max(0, gateway.residentMb() - alone.mb)
  control.abort()
  await Promise.all(open)
  const more = Math.max(0, share - alone.share) * 100
  return [
    { what: `memory for ${pages} open pages`, target: "30 MB", measured: `${mb.toFixed(0)} MB`, met: mb <= 30 },
    {
      what: `processor for ${pages} open pages, a run a second`,
      target: "5 % of a core",
      measured: `${more.toFixed(1)} %`,
      met: more <= 5,
    },
  ]
}

/** Of the process, in user and kernel; a tick is 10 ms. */
function cpuMs({ process: gateway }: BenchGateway): number {
  const fields = readFileSync(`/proc/${gateway?.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function figure(what: string, target: string, ms: number, limit: number): Figure {
  return { what, target, measured: `${ms.toFixed(0)} ms`, met: ms <= limit }
}
