// The steps of the demo. Each returns what it observed, or throws NotObserved with what was missing.
import { setTimeout as delay } from "node:timers/promises"
import { NotObserved } from "./timeline.ts"
import type { DemoWorld } from "./world.ts"

export interface DemoStep {
  title: string
  run(world: DemoWorld): Promise<string[]>
}

export const steps: DemoStep[] = [
  { title: "gateway, chat platform emulator, shop and offline model start", run: start },
  { title: "a stranger writes and gets a pairing code", run: pair },
  { title: "asked in the chat, the agent shops in a real browser and sends a picture", run: shop },
  { title: "POST /hooks/agent: 202, and its result arrives in the chat", run: hookAgent },
  { title: "POST /hooks/wake: 200, and the next turn is shown the event", run: hookWake },
  { title: "on the page, by a link that works once: the run's story, and the same asked again", run: usePage },
  { title: "kill -9 in the middle of a turn; after the restart the reply arrives once", run: survive },
]

async function start(world: DemoWorld): Promise<string[]> {
  await world.startSurroundings()
  const readyMs = await world.startGateway()
  const status = JSON.parse(await world.svc("status", "--json")) as { model: { id?: string } }
  if (status.model.id !== "offline/commander") throw new NotObserved(`the model is ${JSON.stringify(status.model)}`)
  return [
    `emulator ${world.emulator.url}, shop ${world.shop.url}`,
    `gateway ${world.gatewayUrl}, ready after ${Math.round(readyMs)} ms, model ${status.model.id}`,
  ]
}

async function pair(world: DemoWorld): Promise<string[]> {
  const sent = world.say("hello")
  const answer = await world.reply(/\b[A-HJ-NP-Z2-9]{8}\b/, sent, "a pairing code")
  const code = /\b[A-HJ-NP-Z2-9]{8}\b/.exec(answer.text ?? "")?.[0] as string
  const approved = await world.svc("pairing", "approve", "chatapp", code)
  const again = world.say("say nice to meet you")
  await world.reply("nice to meet you", again, "the answer to the approved person")
  return [`code ${code}; svc pairing approve chatapp ${code}: ${approved.trim().split("\n")[0]}`]
}

async function shop(world: DemoWorld): Promise<string[]> {
  const sent = world.say(
    `open ${world.shop.url}\ntype "two spoons, please" into Note\nclick "Add Green Tea to basket"\nscreenshot`,
  )
  const picture = await world.emulator.control
    .waitForMessage(
      { chatId: world.person.id, from: "bot", after: sent, match: (message) => message.photo !== undefined },
      { timeoutMs: 60_000 },
    )
    .catch(() => undefined)
  const basket = world.shop.requests.filter((request) => request.method === "POST" && request.url === "/basket")
  if (basket.length !== 1) throw new NotObserved(`the shop saw ${basket.length} orders, not 1`)
  if (!picture?.photo) throw new NotObserved("no picture arrived in the chat")
  const shown = world.emulator.control.messages({ chatId: world.person.id, after: sent })
  const text = shown.find((message) => message.from?.is_bot && (message.text ?? message.caption))
  if (!text) throw new NotObserved("no text arrived in the chat")
  const largest = picture.photo.at(-1)
  return [
    `the shop's server saw: ${basket[0]?.method} ${basket[0]?.url} ${basket[0]?.body ?? ""}`,
    `in the chat: ${JSON.stringify((text.text ?? text.caption ?? "").slice(0, 90))} and a picture of ${largest?.width}x${largest?.height}`,
  ]
}

async function hookAgent(world: DemoWorld): Promise<string[]> {
  const after = latest(world)
  const answer = await world.hook("agent", { message: "say the nightly build is green", name: "CI" })
  if (answer.status !== 202)
    throw new NotObserved(`POST /hooks/agent answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  await world.reply("the nightly build is green", after, "the result of the webhook")
  return [`202 ${JSON.stringify(answer.body)}`]
}

async function hookWake(world: DemoWorld): Promise<string[]> {
  const event = "Parcel 4711 has arrived at the door"
  const answer = await world.hook("wake", { text: event, mode: "next-heartbeat" })
  if (answer.status !== 200)
    throw new NotObserved(`POST /hooks/wake answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  const sent = world.say("say anything new?")
  await world.reply("anything new?", sent, "the reply of the next turn")
  const { items } = JSON.parse(await world.svc("events", "--json")) as {
    items: { text: string; shownByRun: string | null }[]
  }
  const shown = items.find((item) => item.text.includes(event))
  if (!shown?.shownByRun) throw new NotObserved(`the event was not shown by a turn: ${JSON.stringify(shown)}`)
  const run = await world.svc("runs", "show", shown.shownByRun, "--json")
  if (!run.includes(event)) throw new NotObserved("the event is not in what the model was shown")
  return [`200 ${JSON.stringify(answer.body)}; shown to the model by run ${shown.shownByRun.slice(0, 8)}`]
}

/** As somebody uses it: in a Chromium of its own, by the link of `svc dashboard`, with clicks alone. */
async function usePage(world: DemoWorld): Promise<string[]> {
  const after = latest(world)
  const { url } = JSON.parse(await world.svc("dashboard", "--json")) as { url: string }
  const browser = await world.startBrowser()
  try {
    const page = await browser.newPage()
    page.setDefaultTimeout(20_000)
    const began = performance.now()
    await page.goto(url)
    await page.getByText("Live", { exact: true }).waitFor()
    const firstMs = Math.round(performance.now() - began)
    await page.getByRole("link", { name: "Runs", exact: true }).click()
    await page.getByRole("link", { name: /say nice to meet you/ }).click()
    await page.getByText("Ended").waitFor()
    await page.getByRole("button", { name: "Run again" }).click()
    await page.locator("dialog").getByRole("button", { name: "Run again" }).click()
    await page.getByText("Asked for again").waitFor()
    await world.reply("nice to meet you", after, "the answer of the run that the page has asked for again")
    const stranger = await (await browser.newContext()).newPage()
    await stranger.goto(url)
    await stranger.getByText("This link has been used").waitFor({ timeout: 20_000 })
    return [
      `signed in, and shown after ${firstMs} ms; the run was repeated by two clicks, and its answer is in the chat`,
    ]
  } finally {
    await browser.close()
  }
}

async function survive(world: DemoWorld): Promise<string[]> {
  const sent = world.say("wait 2 then say I am back")
  // The typing indicator of this turn: the model is at work now.
  const before = world.emulator.control.calls({ method: "sendChatAction" }).at(-1)?.id ?? 0
  await world.emulator.control.waitForCall(
    { method: "sendChatAction", chatId: world.person.id, after: before },
    { timeoutMs: 10_000 },
  )
  await world.killGateway()
  const readyMs = await world.startGateway()
  await world.reply("I am back", sent, "the reply of the interrupted turn")
  // Long enough for a second copy to show: a resumed turn that ran twice would answer within the same time again.
  await delay(2_500)
  const replies = world.emulator.control
    .messages({ chatId: world.person.id, after: sent })
    .filter((message) => message.from?.is_bot && message.text?.includes("I am back"))
  if (replies.length !== 1) throw new NotObserved(`the reply arrived ${replies.length} times`)
  return [`killed, ready again after ${Math.round(readyMs)} ms, one reply`]
}

function latest(world: DemoWorld): number {
  return world.emulator.control.messages({ chatId: world.person.id }).at(-1)?.message_id ?? 0
}
