import assert from "node:assert/strict"
import { test } from "node:test"
import { installTailscale } from "../../../test/support/tailscale/stand-in.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { rig } from "./gmail.fixture.ts"
import { closeTunnel, createTailscale, openTunnel, tunnelOf } from "./tunnel.ts"

const serve = { bind: "127.0.0.1", port: 8788, path: "/gmail-pubsub" }
const funnel = tunnelOf({ serve, tailscale: { mode: "funnel" } })

test("leads a path of the machine's name to the listener, and takes it away again", async () => {
  assert.ok(funnel)
  const tailscale = installTailscale({ paths: { "/other": { target: "http://127.0.0.1:1", public: true } } })
  const run = createTailscale(tailscale.environment)
  assert.equal(await openTunnel(funnel, run), "https://machine.tailnet.ts.net/gmail-pubsub")
  assert.equal(await openTunnel(funnel, run), "https://machine.tailnet.ts.net/gmail-pubsub", "once more is no error")
  const { paths } = tailscale.state()
  assert.deepEqual(paths["/gmail-pubsub"], { target: "http://127.0.0.1:8788/gmail-pubsub", public: true })
  await closeTunnel(funnel, run)
  assert.deepEqual(Object.keys(tailscale.state().paths), ["/other"], "what others have set up stays")
})

test("path, target and kind are those of the configuration; off is no tunnel", () => {
  assert.equal(tunnelOf({ serve, tailscale: { mode: "off", path: "/mail" } }), undefined)
  const tailscale = { mode: "serve", path: "/mail", target: "http://10.0.0.5:1/x" } as const
  assert.deepEqual(tunnelOf({ serve, tailscale }), tailscale)
  const anywhere = { ...serve, bind: "0.0.0.0" }
  assert.equal(
    tunnelOf({ serve: anywhere, tailscale: { mode: "serve" } })?.target,
    "http://127.0.0.1:8788/gmail-pubsub",
  )
})

for (const [what, state, message, hint] of [
  ["not connected", { state: "NeedsLogin" }, /not connected \(NeedsLogin\)/, /tailscale up/],
  [
    "not allowed to",
    { funnel: false },
    /not enabled on your tailnet.*https:\/\/login\.tailscale\.com/,
    /tailscale funnel/,
  ],
] as const) {
  test(`says what to do where Tailscale is ${what}`, async () => {
    assert.ok(funnel)
    const run = createTailscale(installTailscale(state).environment)
    await assert.rejects(openTunnel(funnel, run), (error: Error & { code?: string; hint?: string }) => {
      assert.match(error.message, message)
      assert.match(error.hint ?? "", hint)
      return error.code === "tunnel-failed"
    })
  })
}

test("says that Tailscale is missing, and ends with whoever waits for it", async () => {
  assert.ok(funnel)
  const nowhere = createTailscale({ PATH: temporaryFolder() })
  await assert.rejects(openTunnel(funnel, nowhere), { code: "tunnel-failed", message: /not installed/ })
  const abort = new AbortController()
  const tailscale = installTailscale({ funnel: false, endsWhenRefused: false })
  const run = createTailscale(tailscale.environment)
  const opening = assert.rejects(openTunnel(funnel, run, abort.signal), { code: "aborted" })
  while (!tailscale.state().calls.some((call) => call.startsWith("funnel"))) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  abort.abort()
  await opening
})

test("the watch opens it, and goes on without it while it fails", async (context) => {
  const broken = installTailscale({ state: "Stopped" })
  const failing = await rig(context, {
    view: { tailscale: { mode: "funnel" } },
    tailscale: createTailscale(broken.environment),
  })
  await failing.watch.start()
  await failing.logged("gmail watch failing")
  assert.equal(failing.watch.status().state, "failing")
  assert.match(failing.watch.status().lastError ?? "", /Tailscale is not connected/)
  assert.ok(failing.watch.status().watchExpiresAt, "it is registered and reads nevertheless")

  const tailscale = installTailscale()
  const working = await rig(context, {
    view: { tailscale: { mode: "funnel" } },
    tailscale: createTailscale(tailscale.environment),
  })
  await working.watch.start()
  await working.logged("gmail tunnel open")
  const { listening, tunnel } = working.watch.status()
  assert.equal(tunnel, "https://machine.tailnet.ts.net/gmail-pubsub")
  assert.equal(tailscale.state().paths["/gmail-pubsub"]?.target, `http://127.0.0.1:${listening?.port}/gmail-pubsub`)
})
