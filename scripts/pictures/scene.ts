// A morning of a small installation, as the pictures of the page show it: real parts, and a model that says what is told
// here. Everything goes in by the chat and by webhooks, as it does for a user.
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { User } from "grammy/types"
import type { Json } from "../../src/kernel/index.ts"
import { startProgram } from "../../cli/testing/run-program.ts"
import { endBrowsersOf } from "../../test/support/left-browsers.ts"
import { type ScriptedReply, type ScriptedUsage } from "../../test/support/model-server/index.ts"
import { refOf, resultsOf } from "../../test/support/obedient-model.ts"
import { type PagesServer, startPagesServer } from "../../test/support/pages-server.ts"
import { lastPrompt } from "../../test/support/prompts.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { type World, createWorld } from "../../test/support/world.ts"

type Context = Parameters<typeof createWorld>[0]
type Step = string | { tool: string; input: Json }

const basketAnswer =
  "Two packs of **Green Tea** are in the basket, with your note about the spoons. It comes to €13.00."

export interface Scene {
  world: World
  shop: PagesServer
  /** The run in which the agent shops. */
  shoppingRun: string
  /** The tab in which it has. */
  tab: string
}

export async function playScene(context: Context): Promise<Scene> {
  const shop = await startPagesServer({ folder: join(import.meta.dirname, "../../test/fixtures/pages/shop") })
  context.after(() => shop.stop())
  const world = await createWorld(context, {
    config: {
      browser: {
        enabled: true,
        headless: true,
        defaultProfile: "managed",
        navigation: { allow: [new URL(shop.url).host] },
      },
      hooks: { presets: ["github"] },
      messages: { queue: { mode: "collect" } },
    },
  })
  context.after(() => endBrowsersOf(world.stateFolder))
  direct(world, shop)
  write(world)
  await world.start()
  const shoppingRun = await play(world, shop)
  await furnish(context, world)
  const { profiles } = await world.gateway.call<{
    profiles: { name: string; tabs: { targetId: string; url: string }[] }[]
  }>("GET", "/api/browser")
  const tab = profiles.flatMap(({ tabs }) => tabs).find(({ url }) => url.startsWith(shop.url))?.targetId ?? ""
  return { world, shop, shoppingRun, tab }
}

/** What the model does, by a phrase of the prompt. */
function direct(world: World, shop: PagesServer): void {
  const act = (input: Json): Step => ({ tool: "browser", input })
  const stories: [phrase: string, steps: ((results: readonly string[]) => Step)[]][] = [
    [
      "two packs of green tea",
      [
        () => act({ action: "open", url: shop.url }),
        () => act({ action: "snapshot" }),
        (results) =>
          act({ action: "act", kind: "type", ref: refOf(results[1], "Note"), text: "Two spoons with it, please" }),
        (results) => act({ action: "act", kind: "click", ref: refOf(results[1], "Add Green Tea") }),
        (results) => act({ action: "act", kind: "click", ref: refOf(results[1], "Add Green Tea") }),
        () => act({ action: "screenshot" }),
        () => basketAnswer,
      ],
    ],
    ["what is on today", [() => "Two things: the parcel arrives before noon, and the review with Bo is at 15:00."]],
    [
      "how are we doing",
      [() => "All quiet:\n\n- the nightly build is **green**\n- the parcel has arrived\n- the basket waits for you"],
    ],
    ["nightly build", [() => "The nightly build of `shop` is green: 412 tests in 3 min 10 s."]],
    ["disk of the build server", [() => "The disk of the build server is at 91 %. Old artefacts take 38 GB."]],
  ]
  world.model.script((request) => {
    const prompt = lastPrompt(request)
    const results = resultsOf(request)
    const steps = stories.find(([phrase]) => prompt.toLowerCase().includes(phrase))?.[1]
    const step = steps?.[results.length]?.(results) ?? "Good morning. Write to me whenever something is to be done."
    return reply(step, { input: 2_900 + results.length * 340, cacheRead: results.length === 0 ? 0 : 2_600, output: 60 })
  })
}

function reply(step: Step, usage: ScriptedUsage): ScriptedReply {
  return typeof step === "string"
    ? { kind: "reply", text: step, usage }
    : { kind: "reply", calls: [{ name: step.tool, input: step.input }], usage }
}

async function play(world: World, shop: PagesServer): Promise<string> {
  const say = async (text: string, answer: RegExp, person?: User) => {
    const sent = world.say(text, person)
    await world.reply(answer, { after: sent, ...(person ? { person } : {}) })
  }
  await say("Good morning", /Good morning/)
  await say("What is on today?", /Two things/)
  await world.hook("agent", { message: "Tell how the nightly build went: it is green", name: "CI", deliver: true })
  await world.hook("agent", { message: "The disk of the build server is at 91 %", name: "Monitor", deliver: true })
  await world.hook("wake", { text: "Parcel 4711 has arrived at the door", mode: "next-heartbeat" })
  await world.hook("billing", { invoice: 218 })
  await world.addPerson({ firstName: "Bo", username: "bo" })
  await say(`Put two packs of Green Tea into the basket at ${shop.url}, and ask for two spoons`, /Green Tea/)
  await world.until("all is done and sent", () => {
    const open =
      "select 1 from job where state in ('ready', 'running') union select 1 from outbox where state in ('new', 'sending')"
    return world.rows(open).length === 0 ? true : undefined
  })
  const [run] = world.rows<{ run_id: string }>(
    "select run_id from job where kind = 'turn' and json_extract(payload, '$.text') like '%Green Tea%' limit 1",
  )
  return run?.run_id ?? ""
}

/** Files of the workspace: notes and a skill. */
function write({ stateFolder }: World): void {
  const workspace = join(stateFolder, "workspace")
  const skill = join(workspace, "skills", "orders")
  mkdirSync(skill, { recursive: true })
  writeFileSync(
    join(skill, "SKILL.md"),
    "---\ndescription: How to look up an order at the shop\n---\n\n1. Open the list of orders.\n2. Search for the number.\n",
  )
  writeFileSync(
    join(workspace, "MEMORY.md"),
    "# Tea\n\nGreen Tea, two packs a month, with two spoons.\n\n# Meetings\n\nThe review with Bo is on Mondays at 15:00.\n",
  )
}

/** What a person sets up in the page: a chat, schedules, a secret, another machine. */
async function furnish(context: Context, world: World): Promise<void> {
  const { gateway } = world
  const chat = "agent:main:web:morning"
  await gateway.call("POST", "/api/chat/messages", { id: "morning-1", chat, text: "How are we doing today?" })
  await world.until("the chat has its answer", async () => {
    const { items } = await gateway.call<{ items: { side: string }[] }>("GET", `/api/chat/messages?chat=${chat}`)
    return items.some(({ side }) => side === "out") ? true : undefined
  })
  await gateway.call("POST", "/api/schedules", {
    name: "morning",
    text: "Tell me what is on today",
    cron: "0 8 * * 1-5",
  })
  await gateway.call("POST", "/api/schedules", {
    name: "tea",
    text: "Is there tea left? Else order two packs",
    every: "7d",
  })
  await gateway.call("POST", "/api/secrets", {
    name: "shop-password",
    origins: ["https://shop.example"],
    value: "not shown anywhere",
  })
  const folder = temporaryFolder()
  writeFileSync(join(folder, "svc.json"), "{}", { mode: 0o600 })
  const words = ["node", "run", "--gateway", `ws://127.0.0.1:${world.port}`, "--name", "studio", "--state-dir", folder]
  const node = startProgram(words, { environment: { SVC_GATEWAY_PORT: String(world.port + 10) } })
  context.after(() => node.ended)
  context.after(() => node.child.kill("SIGTERM"))
  await world.until("a machine asks to be let in", async () => {
    const { nodes } = await gateway.call<{ nodes: object[] }>("GET", "/api/nodes")
    return nodes.length > 0 ? true : undefined
  })
}
