// Browser control through HTTP, against a floor measured in the same run: one function in the page over raw CDP, or raw
// input events. Pages of 500 and 20,000 controls.
import { writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { WebSocket } from "ws"
import { type BrowserBench, startBrowserBench } from "../test/support/browser-service.ts"
import { startPagesServer } from "../test/support/pages-server.ts"
import type { Bench, Figure } from "./figure.ts"
import { median, round } from "./statistics.ts"

type Work = () => Promise<unknown>

async function time(count: number, work: Work, before: Work = () => Promise.resolve()): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < count + 3; index += 1) {
    await before()
    const began = performance.now()
    await work()
    if (index >= 3) times.push(performance.now() - began)
  }
  return median(times)
}

/** A connection of the bench's own to one tab. */
class RawTab {
  readonly #socket: WebSocket
  readonly #pending = new Map<number, (result: unknown) => void>()
  #next = 1

  static async open(url: string): Promise<RawTab> {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject))
    return new RawTab(socket)
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on("message", (data) => {
      const message = JSON.parse(String(data)) as { id?: number; result?: unknown }
      if (message.id !== undefined) this.#pending.get(message.id)?.(message.result)
    })
  }

  send(method: string, params: object = {}): Promise<unknown> {
    const id = this.#next++
    const { promise, resolve } = Promise.withResolvers<unknown>()
    this.#pending.set(id, resolve)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return promise
  }

  async evaluate(expression: string): Promise<unknown> {
    const reply = (await this.send("Runtime.evaluate", { expression, returnByValue: true })) as {
      result: { value?: unknown }
    }
    return reply.result.value
  }

  close(): void {
    this.#socket.close()
  }
}

/** One visit of every element, with what a list of controls needs to know of each. */
const walker = `(() => {
  let number = 0, text = ""
  const walk = document.createTreeWalker(document.body, 1)
  for (let element = walk.nextNode(); element; element = walk.nextNode()) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue
    const tag = element.localName
    if (tag === "a" || tag === "button") text += "- " + tag + " " + JSON.stringify(element.textContent) + " [ref=" + ++number + "]\\n"
    else if (getComputedStyle(element).cursor === "pointer") text += "- generic\\n"
  }
  return text
})()`

async function rawClick(raw: RawTab): Promise<void> {
  const point = (await raw.evaluate(
    `(() => { const button = document.querySelectorAll("button")[1]; const box = button.getBoundingClientRect(); const x = box.x + 5, y = box.y + 5; return document.elementFromPoint(x, y) === button ? { x, y } : null })()`,
  )) as object
  const event = (type: string, more: object = {}) => raw.send("Input.dispatchMouseEvent", { type, ...point, ...more })
  const button = { button: "left", clickCount: 1 }
  await Promise.all([event("mouseMoved"), event("mousePressed", button), event("mouseReleased", button)])
}

interface Stage {
  bench: BrowserBench
  raw: RawTab
  snapshot(query: string): Promise<{ snapshot: string; refs: Record<string, { name?: string }> }>
  act(body: object): Promise<unknown>
}

async function show(bench: BrowserBench, url: string): Promise<Stage> {
  const { targetId } = (await bench.call("POST", "/tabs/open", { url, timeoutMs: 60_000 })).body
  const { cdpPort } = (await bench.call("GET", "/")).body
  return {
    bench,
    raw: await RawTab.open(`ws://127.0.0.1:${cdpPort}/devtools/page/${targetId}`),
    snapshot: async (query) => (await bench.call("GET", `/snapshot?targetId=${targetId}&${query}`)).body,
    async act(body) {
      const reply = await bench.call("POST", "/act", { targetId, ...body })
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
      return reply.body
    },
  }
}

const touch = "document.querySelector('h3').title = String(performance.now())"

async function medium(stage: Stage): Promise<Figure[]> {
  const { raw, snapshot, act } = stage
  const floor = await time(40, () => raw.evaluate(walker))
  const full = await time(
    40,
    () => snapshot("interactive=true"),
    () => raw.evaluate(touch),
  )
  const complete = await snapshot("interactive=true")
  const efficient = await snapshot("mode=efficient")
  const again = await time(40, () => snapshot("interactive=true&diff=true"))
  const same = await snapshot("interactive=true&diff=true")
  const byName = (name: string) => Object.entries(complete.refs).find(([, ref]) => ref.name === name)?.[0]
  const clickFloor = await time(30, () => rawClick(raw))
  const click = await time(30, () => act({ kind: "click", ref: byName("Button 1") }))
  const clickAndSee = await time(
    30,
    () => act({ kind: "click", ref: byName("Button 1"), snapshot: "efficient" }),
    () => raw.evaluate(touch),
  )
  const tokens = (text: string) => Math.ceil(text.length / 4)
  return [
    ratio("interactive snapshot of 500 controls over HTTP", full, floor, 4),
    count("tokens of it, complete", tokens(complete.snapshot), 4_800),
    count("tokens of it, efficient", tokens(efficient.snapshot), 2_000),
    limit("second snapshot of an unchanged page", again, 3),
    count("tokens of it, as changes", tokens(same.snapshot), 10),
    ratio("click by ref with all checks", click, clickFloor, 4),
    limit("click and fresh efficient snapshot in one call", clickAndSee, 15),
  ]
}

async function large(stage: Stage): Promise<Figure[]> {
  const { raw, snapshot } = stage
  const floor = await time(5, () => raw.evaluate(walker))
  const full = await time(
    5,
    () => snapshot("interactive=true&maxChars=0"),
    () => raw.evaluate(touch),
  )
  const efficient = await time(
    15,
    () => snapshot("mode=efficient"),
    () => raw.evaluate(touch),
  )
  const fitted = await time(
    15,
    () => snapshot("maxTokens=2000"),
    () => raw.evaluate(touch),
  )
  return [
    ratio("complete interactive snapshot of 20,000 controls", full, floor, 3),
    limit("efficient snapshot of 20,000 controls", efficient, 15),
    limit("snapshot of 20,000 controls in 2,000 tokens", fitted, 15),
  ]
}

function ratio(what: string, ms: number, floor: number, target: number): Figure {
  const times = ms / floor
  return {
    what,
    target: `at most ${target}x the floor`,
    measured: `${round(times)}x (${round(ms)} ms; floor ${round(floor)} ms)`,
    met: times <= target,
  }
}

function limit(what: string, ms: number, target: number): Figure {
  return { what, target: `at most ${target} ms`, measured: `${round(ms)} ms`, met: ms <= target }
}

function count(what: string, value: number, target: number): Figure {
  return { what, target: `at most ${target}`, measured: String(value), met: value <= target }
}

/** 20,000 rows of equal shape, as a report would have them. */
const rows = `<!doctype html><title>Rows</title><h3>Rows</h3><table id="t"></table><script>
let html = ""
for (let i = 0; i < 20000; i += 1) html += "<tr><td>" + i + "</td><td><button>Open " + i + "</button></td></tr>"
document.getElementById("t").innerHTML = html
</script>`

async function run(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "svc-bench-pages-"))
  writeFileSync(join(folder, "rows.html"), rows)
  const own = await startPagesServer({ folder })
  const fixtures = await startPagesServer({ folder: join(import.meta.dirname, "../test/fixtures/pages") })
  const bench = await startBrowserBench()
  try {
    const stages = [
      { url: `${fixtures.url}/controls.html?n=500`, measure: medium },
      { url: `${own.url}/rows.html`, measure: large },
    ]
    const figures: Figure[] = []
    for (const { url, measure } of stages) {
      const stage = await show(bench, url)
      figures.push(...(await measure(stage)))
      stage.raw.close()
    }
    return figures
  } finally {
    await bench.stop()
    await own.stop()
    await fixtures.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

export const browser: Bench = { name: "browser", run }
