// What the way through the relay costs: a command and a snapshot of a person's tab, against the same browser's own CDP port,
// taken in turns in the same run.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { WebSocket } from "ws"
import { startBrowserBench, testToken } from "../test/support/browser-service.ts"
import { freePort } from "../test/support/gateway.ts"
import { startPagesServer } from "../test/support/pages-server.ts"
import { startPersonBrowser } from "../test/support/person-browser.ts"
import { RawTab } from "./browser/raw-tab.ts"
import type { Bench, Figure } from "./figure.ts"
import { median, round } from "./statistics.ts"

const commands = 400
const snapshots = 40

type Work = () => Promise<unknown>

/** Medians of both, one after the other each time, so that what else the machine does meets both. */
async function inTurns(count: number, one: Work, other: Work): Promise<[number, number]> {
  const times: [number[], number[]] = [[], []]
  for (let index = 0; index < count + 5; index += 1) {
    for (const [at, work] of [one, other].entries()) {
      const began = performance.now()
      await work()
      if (index >= 5) (times[at] as number[]).push(performance.now() - began)
    }
  }
  return [median(times[0]), median(times[1])]
}

/** One command to an attached tab through `/cdp`. */
async function throughRelay(port: number, targetId: string): Promise<{ evaluate: Work; close(): void }> {
  const headers = { authorization: `Bearer ${testToken}` }
  const socket = new WebSocket(`ws://127.0.0.1:${port}/cdp`, { headers, perMessageDeflate: false })
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject))
  const waiting = new Map<number, (result: Record<string, unknown>) => void>()
  socket.on("message", (data) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown> }
    if (id !== undefined) waiting.get(id)?.(result ?? {})
  })
  let next = 0
  const send = (method: string, params: object, sessionId?: unknown) => {
    const id = (next += 1)
    const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>()
    waiting.set(id, resolve)
    socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
    return promise
  }
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true })
  return { evaluate: () => send("Runtime.evaluate", { expression: "1" }, sessionId), close: () => socket.close() }
}

async function run(): Promise<Figure[]> {
  const controlPort = await freePort()
  const pages = await startPagesServer({ folder: join(import.meta.dirname, "../test/fixtures/pages") })
  const [bench, person] = await Promise.all([startBrowserBench({}, { controlPort }), startPersonBrowser()])
  try {
    bench.settings.profiles["direct"] = { driver: "existing", userDataDir: person.dataFolder }
    await bench.service.reconfigure()
    await person.pair((await bench.call("POST", "/extension/pair", {})).body.code)
    const page = await person.open(`${pages.url}/controls.html?n=500`)
    await person.press(page)
    await person.waitForBadge(page, "ON")
    const cdpPort = readFileSync(join(person.dataFolder, "DevToolsActivePort"), "utf8").split("\n")[0]
    const raw = await RawTab.open(`ws://127.0.0.1:${cdpPort}/devtools/page/${page}`)
    const relay = await throughRelay(controlPort + 1, page)
    const [through, direct] = await inTurns(commands, relay.evaluate, () => raw.evaluate("1"))
    relay.close()
    const touch = () => raw.evaluate("document.querySelector('h3').title = String(performance.now())")
    const snapshot = (profile: string) => async () => {
      await touch()
      await bench.call("GET", `/snapshot?profile=${profile}&targetId=${page}&interactive=true`)
    }
    const [relayed, plain] = await inTurns(snapshots, snapshot("relay"), snapshot("direct"))
    raw.close()
    return [
      {
        what: "a command to a person's tab through the relay, above one to the browser itself (median)",
        target: "at most 1.5 ms",
        measured: `${round(through - direct)} ms (${round(through)} against ${round(direct)} ms)`,
        met: through - direct <= 1.5,
      },
      {
        what: "an interactive snapshot of 500 controls through the relay, above one over CDP (median)",
        target: "at most 15 %",
        measured: `${round((relayed / plain - 1) * 100)} % (${round(relayed)} against ${round(plain)} ms)`,
        met: relayed / plain <= 1.15,
      },
    ]
  } finally {
    await Promise.all([person.stop(), bench.stop()])
    await pages.stop()
  }
}

export const relay: Bench = { name: "relay", run }
