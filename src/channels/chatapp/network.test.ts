// Calls, polls and downloads through real proxies on loopback, and what must not be seen of a proxy's password.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createServer } from "node:https"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { afterEach, describe, test } from "node:test"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { type Emulator, startEmulator } from "../../../emulator/index.ts"
import { type Client, createClient } from "./client.ts"
import { createAgentMaker } from "./network.ts"
import { endAll } from "../../../test/support/ends.ts"
import { type TestProxy, startHttpProxy, startSocksProxy } from "./test-bench/proxies.ts"
import { type Bench, startBench } from "./test-bench/bench.ts"

const owner = 4242
/** What a URL cannot hold as it is. */
const password = "p@ss/wörd:1"
const credentials = `us%er:${password}`
const encoded = `${encodeURIComponent("us%er")}:${encodeURIComponent(password)}`
const stops: (() => Promise<unknown> | void)[] = []

afterEach(() => endAll(stops.splice(0).reverse()))

async function platform(): Promise<Emulator> {
  const emulator = await startEmulator({ seed: 5 })
  stops.push(() => emulator.stop())
  return emulator
}

async function kept<Proxy extends TestProxy>(starting: Promise<Proxy>): Promise<Proxy> {
  const proxy = await starting
  stops.push(() => proxy.stop())
  return proxy
}

async function clientOf(emulator: Emulator, proxy: string): Promise<Client> {
  const client = await createClient({ token: emulator.token, apiRoot: emulator.url, network: { proxy } })
  stops.push(() => client.reset())
  return client
}

const limits = { timeoutMs: 10_000 }

for (const { name, scheme, start, isTarget } of [
  {
    name: "an HTTP proxy",
    scheme: "http",
    start: startHttpProxy,
    isTarget: (target: string, port: number) => target.startsWith(`http://127.0.0.1:${port}/`),
  },
  {
    name: "a SOCKS proxy that is given addresses",
    scheme: "socks5",
    start: startSocksProxy,
    isTarget: (target: string, port: number) => target === `127.0.0.1:${port}`,
  },
  {
    name: "a SOCKS proxy that looks names up",
    scheme: "socks5h",
    start: startSocksProxy,
    isTarget: (target: string, port: number) => target === `127.0.0.1:${port}`,
  },
]) {
  describe(name, () => {
    test("carries polls, calls and downloads, and its password is seen nowhere", async () => {
      const emulator = await platform()
      emulator.control.addUser({ id: owner })
      const proxy = await kept(start(credentials))
      const bench: Bench = await startBench({
        emulator,
        chatapp: { allowFrom: [owner], proxy: `${scheme}://${encoded}@127.0.0.1:${proxy.port}` },
      })
      stops.push(() => bench.stop())
      emulator.control.sendText({ userId: owner, text: "hello" })
      await bench.until(() => bench.jobs().length === 1, "the message")
      const route = bench.jobs()[0]?.input.route
      assert.ok(route)
      await bench.store.write(async (write) => {
        for (const row of bench.channel.sender.plan(route, { text: "an answer", media: [] })) write.addOutbox(row)
      })
      await emulator.control.waitForMessage({ chatId: owner, from: "bot", match: "an answer" })
      assert.ok(proxy.targets.length > 0)
      for (const target of proxy.targets) assert.ok(isTarget(target, emulator.port), target)
      const seen =
        bench.logLines.join("") +
        JSON.stringify(await bench.channel.status({ probe: true, signal: AbortSignal.timeout(5000) }))
      for (const secret of [password, encodeURIComponent(password)]) assert.ok(!seen.includes(secret), secret)
      assert.equal(bench.redactor.redact(`x ${password} y`), "x *** y")
    })

    test("with a wrong password means that nothing was sent", async () => {
      const emulator = await platform()
      const proxy = await kept(start(credentials))
      const client = await clientOf(emulator, `${scheme}://someone:wrong@127.0.0.1:${proxy.port}`)
      const answer = await client.call("sendMessage", { chat_id: owner, text: "x" }, limits)
      assert.equal(answer.ok ? "ok" : answer.failure.kind, "unsent")
      assert.ok(!JSON.stringify(answer).includes("wrong@"))
      assert.equal(proxy.refused, 1)
      assert.deepEqual(emulator.control.calls({ method: "sendMessage" }), [])
    })

    test("that is not there means that nothing was sent", async () => {
      const emulator = await platform()
      const proxy = await start(credentials)
      await proxy.stop()
      const client = await clientOf(emulator, `${scheme}://${encoded}@127.0.0.1:${proxy.port}`)
      const answer = await client.call("getMe", {}, limits)
      assert.equal(answer.ok ? "ok" : answer.failure.kind, "unsent")
    })

    test("lets a call be given up by a native signal", async () => {
      const emulator = await platform()
      const proxy = await kept(start(credentials))
      const client = await clientOf(emulator, `${scheme}://${encoded}@127.0.0.1:${proxy.port}`)
      emulator.control.fault({ kind: "hang", method: "sendMessage" })
      const abort = new AbortController()
      const call = client.call("sendMessage", { chat_id: owner, text: "x" }, { ...limits, signal: abort.signal })
      await emulator.control.waitForCall({ method: "sendMessage", phase: "started" })
      abort.abort()
      const answer = await call
      assert.equal(answer.ok ? "ok" : answer.failure.kind, "lost", "it may have arrived")
    })
  })
}

test("a TLS platform is reached through a tunnel, and a refused tunnel means that nothing was sent", async () => {
  const fixture = (name: string) => readFileSync(new URL(`../../../test/fixtures/tls/${name}`, import.meta.url), "utf8")
  const before = getCACertificates("default")
  setDefaultCACertificates([...before, fixture("cert.pem")])
  stops.push(() => setDefaultCACertificates(before))
  const server = createServer({ key: fixture("key.pem"), cert: fixture("cert.pem") }, (_request, response) => {
    response.end('{"ok":true,"result":{"id":1,"username":"tls_bot"}}')
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  stops.push(() => void server.close())
  const { port } = server.address() as AddressInfo
  const apiRoot = `https://localhost:${port}`
  const token = "123456:abcdefghijklmnop"
  for (const start of [startHttpProxy, startSocksProxy]) {
    const proxy = await kept(start(credentials))
    const scheme = start === startHttpProxy ? "http" : "socks5h"
    const network = { proxy: `${scheme}://${encoded}@127.0.0.1:${proxy.port}` }
    const client = await createClient({ token, apiRoot, network })
    stops.push(() => client.reset())
    const me = await client.call("getMe", {}, limits)
    assert.equal(me.ok ? me.value.username : JSON.stringify(me.failure), "tls_bot")
    assert.deepEqual(proxy.targets, [`localhost:${port}`])
    const wrong = await createClient({ token, apiRoot, network: { proxy: `${scheme}://a:b@127.0.0.1:${proxy.port}` } })
    const refused = await wrong.call("getMe", {}, limits)
    assert.equal(refused.ok ? "ok" : refused.failure.kind, "unsent")
    wrong.reset()
  }
})

test("a file is downloaded in pieces, with the size that the server states; what its reader throws is thrown on", async () => {
  const emulator = await platform()
  emulator.control.addUser({ id: owner })
  const data = Buffer.alloc(300_000, 7)
  emulator.control.sendMedia({ userId: owner, kind: "document", data, name: "a b.bin" })
  const proxy = await kept(startHttpProxy(credentials))
  const client = await clientOf(emulator, `http://${encoded}@127.0.0.1:${proxy.port}`)
  const raw = (method: string, query: string) => fetch(`${emulator.url}/bot${emulator.token}/${method}?${query}`)
  const updates = (await (await raw("getUpdates", "")).json()) as {
    result: { message?: { document?: { file_id: string } } }[]
  }
  const fileId = updates.result.at(-1)?.message?.document?.file_id ?? ""
  const file = (await (await raw("getFile", `file_id=${fileId}`)).json()) as { result: { file_path: string } }
  const got = await client.download(file.result.file_path, limits, async (bytes, size) => {
    let total = 0
    for await (const chunk of bytes) total += chunk.length
    return { total, size }
  })
  assert.deepEqual(got, { ok: true, value: { total: data.length, size: data.length } })
  assert.ok(proxy.targets.some((target) => target.includes("/file/bot")))
  await assert.rejects(
    client.download(file.result.file_path, limits, async () => {
      throw new RangeError("too large")
    }),
    /too large/,
  )
  const missing = await client.download("no/such file", limits, async () => undefined)
  assert.deepEqual(missing, { ok: false, failure: { kind: "page", status: 404 } })
})

test("IPv4 and IPv6 are tried side by side where the configuration says so", async () => {
  for (const autoSelectFamily of [true, false]) {
    const { http } = (await createAgentMaker(false, { autoSelectFamily }))()
    assert.equal(
      (http as unknown as { options: { autoSelectFamily?: boolean } }).options.autoSelectFamily,
      autoSelectFamily,
    )
  }
})
