// What a person who looks at a tab costs the gateway: a page that never stands still, its screencast at the full pace, and
// the time of processors that the gateway's own process takes for it. The browser is not counted: it draws for whoever it is.
// And what that page costs in the browser while nobody uses it.
import { readFileSync, readdirSync } from "node:fs"
import { createServer } from "node:http"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import type { Bench, Figure } from "./figure.ts"
import { BenchGateway, workOf } from "./gateway.ts"
import { round } from "./statistics.ts"

/** Frames a second that the gateway takes at most. */
const fullPace = 20
const warmMs = 3_000
const measuredMs = 10_000
/** A tab that was not used for half a minute rests. */
const restAfterMs = 30_000
/** Bytes in front of a record of the stream: its kind and its length. */
const head = 5
const picture = 1

const movingPage = `<!doctype html><title>Moving</title><canvas width=1200 height=700></canvas><script>
const context = document.querySelector("canvas").getContext("2d")
const draw = (at) => {
  for (let n = 0; n < 60; n += 1) {
    context.fillStyle = "hsl(" + ((at / 10 + n * 6) % 360) + " 80% 50%)"
    context.fillRect((at / 4 + n * 97) % 1200, (n * 53) % 700, 90, 60)
  }
  requestAnimationFrame(draw)
}
requestAnimationFrame(draw)
</script>`

export const liveView: Bench = {
  name: "live-view",
  section: "live-view",
  async run(): Promise<Figure[]> {
    const site = createServer((_request, response) => response.setHeader("content-type", "text/html").end(movingPage))
    site.listen(0, "127.0.0.1")
    await once(site, "listening")
    const gateway = new BenchGateway()
    try {
      await gateway.configure({})
      await gateway.start()
      await gateway.svc("browser", "open", `http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
      const used = await browserShare(gateway)
      await delay(restAfterMs)
      const unused = await browserShare(gateway)
      const { url } = JSON.parse(await gateway.svc("browser", "takeover", "--json")) as { url: string }
      const view = await look(url)
      const watched = await share(gateway, () => view.frames)
      view.stop()
      const resting = await share(gateway, () => 0)
      // By frame, as a busy machine draws fewer of them.
      const perFrame = Math.max(0, watched.share - resting.share) / watched.perSecond
      const cost = perFrame * fullPace
      const kilobytes = round(view.bytes / view.frames / 1024)
      return [
        {
          what: "a person looks at a tab that never stands still: the gateway's process, beyond what it takes at rest",
          target: "at most 15 % of a core at 20 frames a second",
          measured: `${round(cost * 100)} % (${round(perFrame * 1000, 2)} ms for a frame of ${kilobytes} KB; ${round(watched.perSecond)} frames a second came)`,
          met: cost <= 0.15,
        },
        {
          what: "the browser, with a tab that never stands still and that nobody uses any more",
          target: "at most a fifth of what it takes while it is used",
          measured: `${round(unused * 100)} % of a core; ${round(used * 100)} % in the half minute before`,
          met: unused <= used / 5,
        },
      ]
    } finally {
      await gateway.stop()
      site.close()
    }
  },
}

/** Of one core, and frames meanwhile. */
async function share(gateway: BenchGateway, frames: () => number): Promise<{ share: number; perSecond: number }> {
  await delay(warmMs)
  const [work, seen, began] = [workOf(gateway), frames(), performance.now()]
  await delay(measuredMs)
  const ms = performance.now() - began
  return { share: (workOf(gateway) - work) / ms, perSecond: ((frames() - seen) * 1000) / ms }
}

/** What all processes of the browser take, of one core. */
async function browserShare({ process: gateway }: BenchGateway): Promise<number> {
  await delay(warmMs)
  const [work, began] = [workBelow(gateway?.pid), performance.now()]
  await delay(measuredMs)
  return (workBelow(gateway?.pid) - work) / (performance.now() - began)
}

/** Milliseconds of processors, of all that a process has started and that still runs. */
function workBelow(pid: number | undefined): number {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  const processes = all.flatMap((name) => {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, "utf8")
        .replace(/^.*\) /, "")
        .split(" ")
      return [{ pid: Number(name), parent: Number(fields[1]), ms: (Number(fields[11]) + Number(fields[12])) * 10 }]
    } catch {
      return []
    }
  })
  const below = (parent: number | undefined): number =>
    processes.filter((each) => each.parent === parent).reduce((sum, each) => sum + each.ms + below(each.pid), 0)
  return below(pid)
}

/** Follows a link as the page does, and reads as fast as pictures come. */
async function look(link: string): Promise<{ frames: number; bytes: number; stop: () => void }> {
  const { origin, hash } = new URL(link)
  const claimed = await fetch(`${origin}/takeover/claim`, {
    method: "POST",
    headers: { origin, "content-type": "application/json" },
    body: JSON.stringify({ token: hash.slice(1) }),
  })
  const { key } = (await claimed.json()) as { key: string }
  const end = new AbortController()
  const response = await fetch(`${origin}/takeover/stream`, {
    headers: { authorization: `Bearer ${key}` },
    signal: end.signal,
  })
  if (!response.ok || !response.body) throw new Error(`no pictures: ${response.status}`)
  const view = { frames: 0, bytes: 0, stop: () => end.abort() }
  void count(response.body, view).catch((error: unknown) => {
    if (!end.signal.aborted) throw error
  })
  return view
}

async function count(body: ReadableStream<Uint8Array>, view: { frames: number; bytes: number }): Promise<void> {
  let held = Buffer.alloc(0)
  for await (const bytes of body) {
    held = Buffer.concat([held, bytes])
    while (held.length >= head && held.length >= head + held.readUInt32BE(1)) {
      const length = held.readUInt32BE(1)
      if (held[0] === picture) {
        view.frames += 1
        view.bytes += length
      }
      held = held.subarray(head + length)
    }
  }
}
