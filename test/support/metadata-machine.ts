// A machine of its own, without a network: a namespace in which 169.254.169.254 and its kin are addresses of this very process,
// with listeners that count who comes. Run by `src/browser/metadata.test.ts`; prints what came, by navigation policy.
import { once } from "node:events"
import { createServer } from "node:http"
import { type Socket, connect, createServer as createListener } from "node:net"
import { startBrowserBench } from "./browser-service.ts"

/** Of clouds, and one that is none of them: what reaches it shows that the attacks arrive where they may. */
const places = ["169.254.169.254", "fd00:ec2::254", "198.51.100.7"]
const site = "http://127.0.0.1:8000"
const names: Record<string, string[]> = {
  "meta.example": ["169.254.169.254"],
  "mapped.example": ["::ffff:169.254.169.254"],
  "mixed.example": ["198.51.100.7", "169.254.169.254"],
  "plain.example": ["198.51.100.7"],
}
// Other spellings of the addresses are one with them before anything is asked (`page/policy/policy.test.ts`).
const hosts = [
  "169.254.169.254",
  "[::ffff:a9fe:a9fe]",
  "[fd00:ec2::254]",
  "meta.example",
  "mapped.example",
  "mixed.example",
]
const allowed = ["169.254.0.0/16", "[fd00:ec2::254]", "*.example", "127.0.0.1"]

/** As it stands in the log. */
const refused = "page with a refused address"

let came: string[] = []
for (const place of places) {
  for (const port of [80, 443]) {
    const listener = createListener((socket: Socket) => {
      came.push(`${place}:${port}`)
      socket.on("error", () => socket.destroy())
      socket.end()
    })
    listener.listen(port, place)
    await once(listener, "listening")
    listener.unref()
  }
}
const server = createServer((request, response) => {
  const { pathname, search } = new URL(request.url ?? "/", site)
  if (pathname === "/to") response.writeHead(302, { location: search.slice(1) }).end()
  else response.writeHead(200, { "content-type": "text/html" }).end("<p>hello")
}).listen(8000, "127.0.0.1")

/** What a page can do about an address by itself, over both schemes; done when each has failed or has come. */
const attack = (aims: readonly string[]) => `async () => {
  const settled = (target, how) => new Promise((done) => {
    target.onerror = target.onload = done
    setTimeout(done, 3000)
    how(target)
  })
  await Promise.all(${JSON.stringify(aims)}.flatMap((aim) => [
    fetch(aim + "/latest/meta-data/", { mode: "no-cors" }).catch(() => 0),
    fetch("/to?" + aim + "/redirected", { mode: "no-cors" }).catch(() => 0),
    settled(new Image(), (image) => (image.src = aim + "/image")),
    settled(document.createElement("iframe"), (frame) => { frame.src = aim + "/frame"; document.body.append(frame) }),
    settled(new WebSocket(aim.replace("http", "ws") + "/socket"), () => 0),
  ]))
  return "tried"
}`

const resolve = async (name: string) => names[name] ?? Promise.reject(new Error(`no address for ${name}`))
const bench = await startBrowserBench({}, { resolve })

async function tryAll(navigation: object, aimsAt: readonly string[]): Promise<{ came: string[]; opened: string[] }> {
  bench.settings.navigation = { policy: "open", allow: [], deny: [], ...navigation }
  await bench.service.reconfigure()
  came = []
  const opened: string[] = []
  const aims = aimsAt.flatMap((host) => [`http://${host}`, `https://${host}`])
  const open = async (url: string) => {
    const { status, body } = await bench.call("POST", "/navigate", { url, timeoutMs: 10_000 })
    if (status !== 400 || body.error.code !== "navigation-refused") opened.push(url)
  }
  for (const aim of aims) await open(`${aim}/direct`)
  for (const aim of aims.slice(0, 2)) await open(`${site}/to?${aim}/redirected`)
  await bench.call("POST", "/navigate", { url: `${site}/plain` })
  const { body } = await bench.call("POST", "/act", { kind: "evaluate", fn: attack(aims), timeoutMs: 60_000 })
  // A page in which a refused address stands after all is taken away, with all that it has begun.
  const isTakenAway = body.error?.message.includes("went away") && bench.logLines.some((line) => line.includes(refused))
  if (body.result !== "tried" && !isTakenAway) throw new Error(JSON.stringify(body))
  return { came: [...new Set(came)].toSorted(), opened }
}

// The listeners work: a program that asks them directly is counted.
for (const place of places) await once(connect(443, place).resume(), "close")
const direct = came.toSorted()
const found = {
  direct,
  reachable: (await tryAll({}, ["plain.example"])).came,
  open: await tryAll({}, hosts),
  strict: await tryAll({ policy: "strict", allow: allowed }, hosts),
}
process.stdout.write(`${JSON.stringify(found)}\n`)
await bench.stop()
server.close().closeAllConnections()
