// The extension's parts, without a browser around them: a connection that ends as it begins, a tab that is let go meanwhile.
import assert from "node:assert/strict"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { type WebSocket, WebSocketServer } from "ws"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { createRedactor, systemIds } from "../../kernel/index.ts"
import { type FromExtension, parsePairingCode } from "./contract.ts"
import { welcome } from "./handshake.ts"
import { Pairing } from "./pairing.ts"

/** Chrome's debugger, which a test may hold up. */
let attaching: Promise<void> = Promise.resolve()
const attached = new Set<number>()
const stored = {}
let asking: number | undefined
/** Tells of the contexts of the page, as Chrome does before it answers. */
let onEnable: (tabId: number) => void = () => undefined
const tab = { id: 7, windowId: 1, url: "https://a.example/", title: "A" }

Object.assign(globalThis, {
  chrome: {
    runtime: { getManifest: () => ({ version: "1" }) },
    storage: {
      session: {
        set: async (all: object) => void Object.assign(stored, structuredClone(all)),
        get: async () => stored,
      },
    },
    tabs: { get: async () => tab },
    debugger: {
      async attach({ tabId }: { tabId: number }) {
        await attaching
        attached.add(tabId)
      },
      detach: async ({ tabId }: { tabId: number }) => void attached.delete(tabId),
      async sendCommand({ tabId }: { tabId: number }, method: string) {
        if (method === "Runtime.enable") onEnable(tabId)
        // Its page shows a question, and answers nothing until that is answered.
        if (tabId === asking && /^(Page\.(enable|getFrameTree)|Runtime\.\w+)$/.test(method))
          await new Promise(() => undefined)
        return { targetInfo: { targetId: "A" }, frameTree: { frame: { id: "A" } } }
      },
    },
  },
})
const { Keeper } = await import("../../../extension/src/keeper.ts")
const { AttachedTabs } = await import("../../../extension/src/tabs.ts")

test("what happened is kept for the next connection when one ends before the tabs are told of", async (context) => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" })
  await once(server, "listening")
  context.after(() => {
    for (const client of server.clients) client.terminate()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const pairing = new Pairing({
    stateFolder: temporaryFolder(),
    ids: systemIds,
    redactor: createRedactor(),
    now: Date.now,
  })
  const code = parsePairingCode(await pairing.renew(port))
  const said: FromExtension[] = []
  const heard = Promise.withResolvers<void>()
  let socket: WebSocket | undefined
  server.on("connection", async (open) => {
    socket = open
    const parts = { pairing, port, nonce: systemIds.token(32), isTaken: () => false }
    const words = { onWrongSecret: () => undefined, onRightSecret: () => undefined }
    const hello = { type: "welcome", boot: "B", newTabs: true } as const
    const accepted = await welcome(open, { ...parts, ...words, welcome: () => hello })
    accepted?.listen((message) => {
      said.push(message as FromExtension)
      if (said.length === 2) heard.resolve()
    })
  })
  let isWanted = true
  const prepare = Promise.withResolvers<void>()
  const preparing = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  const keeper = new Keeper({
    settings: async () => ({
      port,
      secret: code?.secret ?? "",
      instance: "one",
      idleMinutes: 0,
      popups: false,
      newTabs: true,
    }),
    isWanted: () => isWanted,
    prepare: async () => {
      preparing.resolve()
      await prepare.promise
    },
    announcement: () => ({ type: "tabs", tabs: [], children: [] }),
    onMessage: () => undefined,
    // The first of them is the beginning.
    onState: ({ kind }) => void (kind === "connecting" && socket && over.resolve()),
    onReplaced: () => undefined,
    onAlone: () => undefined,
  })
  context.after(() => {
    isWanted = false
    keeper.rest()
  })
  const first = keeper.connect()
  await preparing.promise
  socket?.terminate()
  await over.promise
  keeper.send({ session: "T1", method: "Page.frameNavigated", params: {} })
  prepare.resolve()
  await assert.rejects(first, /went away/)
  assert.notEqual(keeper.state.kind, "on")
  await keeper.connect()
  await heard.promise
  assert.deepEqual(said, [
    { type: "tabs", tabs: [], children: [] },
    { session: "T1", method: "Page.frameNavigated", params: {} },
  ])
})

test("a tab that the person lets go while it is set up anew stays let go", async () => {
  const tabs = new AttachedTabs({
    tell: () => undefined,
    attached: () => undefined,
    changed: () => undefined,
    detached: () => undefined,
    emptied: () => undefined,
    mayOpen: () => true,
    boot: () => "before",
  })
  await tabs.attach(tab.id, "person")
  const held = Promise.withResolvers<void>()
  attaching = held.promise
  const renewing = tabs.renew("after", false)
  await tabs.detach(tab.id, "the button was pressed")
  held.resolve()
  await renewing
  assert.deepEqual([tabs.has(tab.id), [...attached]], [false, []])
})

test("the scripts of a page are known from when its tab is attached, and told of behind the tab", async (context) => {
  context.after(() => (onEnable = () => undefined))
  attaching = Promise.resolve()
  const said: string[] = []
  const tabs = new AttachedTabs({
    tell: ({ session, method }) => void said.push(`${session} ${method}`),
    attached: ({ session }) => void said.push(session),
    changed: () => undefined,
    detached: () => undefined,
    emptied: () => undefined,
    mayOpen: () => true,
    boot: () => "before",
  })
  onEnable = (tabId) =>
    tabs.event(tabId, "", "Runtime.executionContextCreated", { context: { id: 1, origin: "https://a.example" } })
  const evaluate = (session: string) => tabs.command(session, "", "Runtime.evaluate", { expression: "1", contextId: 1 })
  const { session } = (await tabs.attach(tab.id, "person")).tab
  assert.deepEqual(said.splice(0), [session, `${session} Runtime.executionContextCreated`])
  await evaluate(session)
  await tabs.renew("after", false)
  const renewed = tabs.list.tabs[0]?.session ?? ""
  assert.deepEqual(said, [`${renewed} Runtime.executionContextCreated`])
  await evaluate(renewed)
})

test("a page that shows a question holds up no other tab when the worker has slept, or the gateway was away", async (context) => {
  const { mock } = context
  context.after(() => (asking = undefined))
  const parts = {
    tell: () => undefined,
    attached: () => undefined,
    changed: () => undefined,
    detached: () => undefined,
    emptied: () => undefined,
    mayOpen: () => true,
    boot: () => "before",
  }
  const before = new AttachedTabs(parts)
  const first = await before.attach(7, "person")
  await before.attach(8, "person")
  asking = 7
  mock.timers.enable({ apis: ["setTimeout"] })
  const inTime = async (work: Promise<void>) => {
    let isDone = false
    const done = work.then(() => (isDone = true))
    for (let tries = 0; tries < 10 && !isDone; tries += 1) {
      for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      mock.timers.tick(1_000)
    }
    assert.ok(isDone)
    await done
  }
  const tabs = new AttachedTabs(parts)
  await inTime(tabs.restore())
  assert.deepEqual(tabs.ids, [7, 8])
  // The answer to the question waits for nothing.
  await tabs.command(first.tab.session, "", "Page.handleJavaScriptDialog", { accept: true })
  await inTime(tabs.renew("after", false))
  assert.deepEqual(tabs.ids, [7, 8])
})

test("a code that is made while the one before it is proven is not overwritten by that", async () => {
  const options = { stateFolder: temporaryFolder(), ids: systemIds, redactor: createRedactor(), now: Date.now }
  const pairing = new Pairing(options)
  await pairing.renew(1)
  const [code] = await Promise.all([pairing.renew(1), pairing.keepProven()])
  const kept = new Pairing(options)
  const nonces = { extension: "a", relay: "b" }
  assert.equal(kept.prove("relay", 1, nonces), pairing.prove("relay", 1, nonces))
  assert.ok(parsePairingCode(code))
  assert.deepEqual([kept.isProven, pairing.isProven], [false, false])
})
