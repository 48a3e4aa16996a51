// What a tab pretends to be: told to every process that has frames of it, in what order, and what of it is refused.
import assert from "node:assert/strict"
import { test } from "node:test"
import { ScriptedBrowser } from "../../../test/support/scripted-browser.ts"
import type { Device } from "./devices.ts"
import { Overrides } from "./overrides.ts"

const device: Device = {
  name: "Phone",
  width: 360,
  height: 640,
  screenWidth: 360,
  screenHeight: 740,
  scale: 3,
  mobile: true,
  touch: true,
  userAgent: "Mozilla/5.0 (Linux; Android 14; Phone) AppleWebKit/537.36 Chrome/140.0.0.0 Mobile Safari/537.36",
}
const { signal } = new AbortController()

function start() {
  const browser = new ScriptedBrowser()
  const overrides = new Overrides()
  const told = () =>
    browser.commands
      .splice(0)
      .map(({ sessionId, method, params }) => `${sessionId} ${method.split(".")[1]} ${JSON.stringify(params)}`)
  return { browser, overrides, told, main: browser.connection.session("M"), frame: browser.connection.session("F") }
}

test("tells the view to the tab's own process alone, and all else to each", async () => {
  const { overrides, told, main, frame } = start()
  await overrides.join(main, signal)
  await overrides.join(frame, signal)
  assert.deepEqual(told(), [])
  await overrides.set({ viewport: { width: 400, height: 300 }, offline: true }, signal)
  const offline = 'emulateNetworkConditions {"offline":true,"latency":0,"downloadThroughput":-1,"uploadThroughput":-1}'
  const view = 'setDeviceMetricsOverride {"width":400,"height":300,"deviceScaleFactor":0,"mobile":false}'
  assert.deepEqual(told(), [`M ${view}`, `M ${offline}`, `F ${offline}`])
  overrides.leave(frame)
  await overrides.set({ viewport: undefined, offline: undefined }, signal)
  assert.deepEqual(told(), ["M clearDeviceMetricsOverride {}", `M ${offline.replace("true", "false")}`])
  assert.deepEqual(overrides.state, {})
})

test("tells who comes later what holds, also in a tab that this one has opened", async () => {
  const { overrides, told, main, frame } = start()
  await overrides.join(main, signal)
  await overrides.set({ headers: { a: "b" }, viewport: { width: 4, height: 3 } }, signal)
  told()
  await overrides.join(frame, signal)
  assert.deepEqual(told(), ['F setExtraHTTPHeaders {"headers":{"a":"b"}}'])
  const opened = start()
  opened.overrides.inherit(overrides)
  await opened.overrides.join(opened.main, signal)
  assert.deepEqual(opened.told(), [
    'M setDeviceMetricsOverride {"width":4,"height":3,"deviceScaleFactor":0,"mobile":false}',
    'M setExtraHTTPHeaders {"headers":{"a":"b"}}',
  ])
})

test("says each thing in the browser's words, and takes it away again", async () => {
  const { overrides, told, main } = start()
  await overrides.join(main, signal)
  const place = { latitude: 1, longitude: 2, accuracy: 3 }
  for (const [changes, commands] of [
    [{ geolocation: { ...place, origin: "https://a.example" } }, [`setGeolocationOverride ${JSON.stringify(place)}`]],
    [{ geolocation: undefined }, ["clearGeolocationOverride {}"]],
    [{ colorScheme: "dark" }, ['setEmulatedMedia {"features":[{"name":"prefers-color-scheme","value":"dark"}]}']],
    [{ colorScheme: undefined }, ['setEmulatedMedia {"features":[{"name":"prefers-color-scheme","value":""}]}']],
    [{ timezoneId: "Asia/Tokyo" }, ['setTimezoneOverride {"timezoneId":"Asia/Tokyo"}']],
    [{ timezoneId: undefined }, ['setTimezoneOverride {"timezoneId":""}']],
    [
      { locale: "de-AT" },
      [
        'setUserAgentOverride {"userAgent":"","acceptLanguage":"de-AT,de"}',
        "setLocaleOverride {}",
        'setLocaleOverride {"locale":"de-AT"}',
      ],
    ],
    [
      { locale: "de" },
      [
        'setUserAgentOverride {"userAgent":"","acceptLanguage":"de"}',
        "setLocaleOverride {}",
        'setLocaleOverride {"locale":"de"}',
      ],
    ],
    [{ locale: undefined }, ['setUserAgentOverride {"userAgent":""}', "setLocaleOverride {}"]],
    [{ headers: undefined }, ['setExtraHTTPHeaders {"headers":{}}']],
  ] as const) {
    await overrides.set(changes, signal)
    assert.deepEqual(
      told(),
      commands.map((command) => `M ${command}`),
      JSON.stringify(changes),
    )
  }
})

test("a device is its screen, its touch and its name; a view of another size goes before its own", async () => {
  const { browser, overrides, told, main } = start()
  await overrides.join(main, signal)
  await overrides.set({ device }, signal)
  const sent = (method: string) => browser.commands.find((each) => each.method.endsWith(method))?.params
  assert.deepEqual(sent("setDeviceMetricsOverride"), {
    width: device.width,
    height: device.height,
    screenWidth: device.screenWidth,
    screenHeight: device.screenHeight,
    deviceScaleFactor: device.scale,
    mobile: device.mobile,
  })
  assert.deepEqual(sent("setTouchEmulationEnabled"), { enabled: true, maxTouchPoints: 5 })
  assert.equal(sent("setUserAgentOverride")?.["userAgent"], device.userAgent)
  assert.ok(sent("setUserAgentOverride")?.["userAgentMetadata"])
  told()
  await overrides.set({ viewport: { width: 9, height: 8 } }, signal)
  const look = { width: 9, height: 8, deviceScaleFactor: device.scale, mobile: device.mobile }
  assert.deepEqual(told(), [`M setDeviceMetricsOverride ${JSON.stringify(look)}`])
  await overrides.set({ device: undefined, viewport: undefined }, signal)
  assert.deepEqual(sent("setTouchEmulationEnabled"), { enabled: false })
  assert.equal(told()[0], "M clearDeviceMetricsOverride {}")
})

test("what the browser refuses is not kept, and told by whose doing it is", async () => {
  const { browser, overrides, main, frame } = start()
  await overrides.join(main, signal)
  await overrides.set({ locale: "de" }, signal)
  browser.answer("Emulation.setTimezoneOverride", () => {
    throw new Error("Invalid timezone ID")
  })
  const bad = { code: "bad-request", message: "The browser does not take this timezoneId" }
  await assert.rejects(overrides.set({ timezoneId: "Nowhere" }, signal), bad)
  browser.answer("Emulation.setTimezoneOverride", () => {
    throw new Error("Timezone override is already in effect")
  })
  await assert.rejects(overrides.set({ timezoneId: "Asia/Tokyo" }, signal), {
    code: "conflict",
    message: /own timezoneId$/,
  })
  assert.deepEqual(overrides.state, { locale: "de" })
  browser.answer("Emulation.setLocaleOverride", () => {
    throw new Error("Another locale override is already in effect")
  })
  await overrides.join(frame, signal)
  browser.answer("Emulation.setLocaleOverride", () => {
    throw new Error("Target closed")
  })
  await assert.rejects(overrides.join(browser.connection.session("G"), signal), /Target closed/)
})

test("a frame that does not know a command, or hangs, holds up nobody", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] })
  const { browser, overrides, main, frame } = start()
  await overrides.join(main, signal)
  await overrides.join(frame, signal)
  const hung = Promise.withResolvers<void>()
  browser.answer("Network.setExtraHTTPHeaders", ({ sessionId }) => {
    if (sessionId === "M") return {}
    hung.resolve()
    return new Promise(() => undefined)
  })
  browser.answer("Emulation.setEmulatedMedia", ({ sessionId }) => {
    if (sessionId === "F") throw new Error("wasn't found")
    return {}
  })
  const set = overrides.set({ colorScheme: "dark", headers: { a: "b" } }, signal)
  await hung.promise
  context.mock.timers.tick(1_000)
  await set
  assert.deepEqual(overrides.state, { colorScheme: "dark", headers: { a: "b" } })
})
