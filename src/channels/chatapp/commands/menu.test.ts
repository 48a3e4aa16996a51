import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import pino from "pino"
import { testStore } from "../../../../test/support/store.ts"
import { configSchema } from "../../../config/index.ts"
import { createBackground, systemClock } from "../../../kernel/index.ts"
import { createSettings } from "../settings.ts"
import { menusOf } from "./menu.ts"
import { MenuRegistration } from "./registration.ts"

const skills = [
  { name: "meal-plan", description: "Plans the meals of a week." },
  { name: "help", description: "Never in a command's place." },
  { name: "shop", description: "Behind the operator's own entry." },
  { name: "long-name-that-the-platform-does-not-take", description: "x" },
]
const menu = (commands: object) => {
  const customCommands = [{ command: "shop", description: "Buys" }]
  const config = configSchema.parse({ commands, channels: { chatapp: { customCommands } } })
  return menusOf(createSettings(() => config).account("default"), skills).default
}

test("skills stand behind the commands in the menu, and take nobody's name", () => {
  assert.deepEqual(menu({}).slice(-2), [
    { command: "shop", description: "Buys" },
    { command: "meal_plan", description: "Plans the meals of a week." },
  ])
  assert.equal(menu({}).filter(({ command }) => command === "help").length, 1)
})

test("skills are left out where they are not wanted, and where no commands are", () => {
  assert.deepEqual(menu({ nativeSkills: "off" }).at(-1)?.command, "shop")
  assert.deepEqual(menu({ native: "off" }), [{ command: "shop", description: "Buys" }])
  const switched = menu({ restart: true }).map(({ command }) => command)
  assert.deepEqual(
    [switched.includes("restart"), switched.includes("debug"), switched.includes("start")],
    [true, false, false],
  )
})

type Failure = { kind: "refused"; code: number; retryAfterSeconds?: number } | { kind: "lost"; reason: string }

/** Registers the menus with a platform that fails in these ways first; the methods that were asked, and the waits. */
async function register(context: TestContext, failures: Failure[], times = 1) {
  const [asked, slept]: [string[], number[]] = [[], []]
  const log = pino({ level: "silent" })
  const background = createBackground(log)
  const settings = createSettings(() => configSchema.parse({ commands: { native: "off" } })).account("default")
  const clock = { ...systemClock, sleep: async (ms: number) => void slept.push(ms) }
  const client = {
    async call(method: string) {
      asked.push(method)
      const failure = failures.shift()
      return failure ? { ok: false, failure: { reason: "no", ...failure } } : { ok: true, value: true }
    },
  }
  const store = await testStore(context)
  for (let time = 0; time < times; time += 1) {
    const registration = new MenuRegistration({ store, clock, log, background, settings: () => settings })
    registration.update({ botId: "1", client, signal: new AbortController().signal } as never)
    await background.idle()
  }
  return { asked: asked.length, slept }
}

test("a menu is registered once, again after a failure, and never again where the platform refuses it", async (context) => {
  const { asked } = await register(context, [], 1)
  assert.ok(asked > 0)
  assert.equal((await register(context, [], 3)).asked, asked, "what is registered is not registered again")
  const patient = await register(context, [
    { kind: "refused", code: 429, retryAfterSeconds: 7 },
    { kind: "lost", reason: "cut" },
    { kind: "refused", code: 500 },
  ])
  assert.equal(patient.asked, asked + 3)
  assert.equal(patient.slept[0], 7_000)
  assert.ok((patient.slept[1] ?? 0) >= 8_000 && (patient.slept[2] ?? 0) >= 16_000, String(patient.slept))
  assert.deepEqual(await register(context, [{ kind: "refused", code: 400 }]), { asked: 1, slept: [] })
})

test("a menu is registered once the platform knows the bot again: its server may say that it does not while it starts", async (context) => {
  const { asked } = await register(context, [])
  const patient = await register(context, [
    { kind: "refused", code: 401 },
    { kind: "refused", code: 404 },
  ])
  assert.deepEqual([patient.asked, patient.slept.length], [asked + 2, 2])
})

test("a menu that is taken back while its call is on its way is registered anew: nobody knows which one stands there", async (context) => {
  const log = pino({ level: "silent" })
  const background = createBackground(log)
  const asked: string[] = []
  let begun = Promise.withResolvers<void>()
  let isSlow = false
  const client = {
    async call(
      _method: string,
      { commands = [] }: { commands?: { command: string }[] },
      limits: { signal: AbortSignal },
    ) {
      asked.push(commands.map(({ command }) => command).join(" "))
      if (!isSlow) return { ok: true, value: true }
      // It has arrived; its answer comes too late.
      begun.resolve()
      await new Promise((resolve) => limits.signal.addEventListener("abort", resolve))
      return { ok: false, failure: { kind: "lost", reason: "given up" } }
    },
  }
  let command = "before"
  const settings = () =>
    createSettings(() =>
      configSchema.parse({
        commands: { native: "off" },
        channels: { chatapp: { customCommands: [{ command, description: "x" }] } },
      }),
    ).account("default")
  const store = await testStore(context)
  const registration = new MenuRegistration({ store, clock: systemClock, log, background, settings })
  const update = (wanted: string) => {
    command = wanted
    registration.update({ botId: "1", client, signal: new AbortController().signal } as never)
  }
  update("before")
  await background.idle()
  isSlow = true
  begun = Promise.withResolvers()
  update("between")
  await begun.promise
  isSlow = false
  update("before")
  await background.idle()
  assert.deepEqual(asked, ["before", "before", "between", "before"])
})

test("a menu of which the store could not take a note is registered with the next change", async (context) => {
  const log = pino({ level: "silent" })
  const background = createBackground(log)
  const settings = createSettings(() => configSchema.parse({ commands: { native: "off" } })).account("default")
  const store = await testStore(context)
  let isFull = true
  const set: typeof store.meta.set = async (key, value) => {
    if (isFull) throw new Error("the disk is full")
    await store.meta.set(key, value)
  }
  const notes = { meta: { get: store.meta.get, set } } as typeof store
  const registration = new MenuRegistration({
    store: notes,
    clock: systemClock,
    log,
    background,
    settings: () => settings,
  })
  let calls = 0
  const client = { call: async () => ((calls += 1), { ok: true, value: true }) }
  const bot = { botId: "1", client, signal: new AbortController().signal } as never
  registration.update(bot)
  await background.idle()
  assert.equal(calls, 0)
  isFull = false
  for (let time = 0; time < 2; time += 1) {
    registration.update(bot)
    await background.idle()
  }
  assert.equal(calls, 2, "one of each place")
})
