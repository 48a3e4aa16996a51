// Our share of a turn: the shipped gateway between the chat platform's emulator and an instant model.
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { startEmulator } from "../emulator/index.ts"
import { startModelServer } from "../test/support/model-server/index.ts"
import { BenchGateway, workOf } from "./gateway.ts"
import { fill } from "./past.ts"
import { median } from "./statistics.ts"

/** The gateway of a person runs for weeks: its code is compiled and optimised by then, after a few hundred turns. */
export const warmTurns = 300
export const turns = 100
/** Where the past fills the model's room it is summed up behind the first ones, before the others come. */
const settlingTurns = 8
/**
 * The platform takes a message a second in one chat, so owners take turns (their direct chats share the conversation), and
 * thirty a second in all, so each turn is followed by a rest: what waits for the platform is no share of ours.
 */
const restMs = 60
const owners = Array.from({ length: 60 }, (_, index) => 1001 + index)

export interface Share {
  /** Median of what passed on our side, in milliseconds. */
  wall: number
  /** Time of processors that the gateway took for a turn. */
  work: number
}

/** From the platform's message to the question, and from the model's answer to the call that sends it: the rest is theirs. */
export async function turnShare(length: number): Promise<Share> {
  const emulator = await startEmulator()
  const model = await startModelServer({ script: (_request, n) => ({ kind: "reply", text: `answer ${n}` }) })
  const gateway = new BenchGateway()
  try {
    await gateway.configure({
      channels: { chatapp: { apiRoot: emulator.url, botToken: emulator.token, allowFrom: owners } },
      models: { providers: { local: { kind: "openai-compatible", baseUrl: model.baseUrl } } },
      agents: { defaults: { model: "local/instant", heartbeat: { every: "0" } } },
    })
    await gateway.start()
    await gateway.kill("SIGTERM")
    fill(gateway, length, true)
    await gateway.start()
    for (const id of owners) emulator.control.addUser({ id, firstName: "Ada" })
    const shares: number[] = []
    let before = 0
    for (let index = -warmTurns; index < turns; index += 1) {
      if (index === 0) before = workOf(gateway)
      const chat = owners[(index + warmTurns) % owners.length] ?? 0
      const share = await turn(emulator, model, chat, `question ${index}.`)
      if (index >= 0) shares.push(share)
      if (index < settlingTurns - warmTurns) await settled(gateway)
    }
    return { wall: median(shares), work: (workOf(gateway) - before) / turns }
  } finally {
    await gateway.stop()
    await model.stop()
    await emulator.stop()
  }
}

type Emulator = Awaited<ReturnType<typeof startEmulator>>
type Model = Awaited<ReturnType<typeof startModelServer>>

async function turn({ control }: Emulator, model: Model, chat: number, text: string): Promise<number> {
  const limit = { timeoutMs: 20_000 }
  // Hundreds of prompts of a full context would be looked through at each turn.
  model.requests.length = 0
  const lastCall = control.calls({ method: "sendMessage" }).at(-1)?.id ?? 0
  const asked = model.waitForRequest((request) => request.promptText().endsWith(text), limit)
  const began = performance.now()
  const { message_id: after } = control.sendText({ userId: chat, text })
  const request = await asked
  await request.ended
  const repliedAt = performance.now()
  await control.waitForCall({ method: "sendMessage", after: lastCall, phase: "started" }, limit)
  const calledAt = performance.now()
  await control.waitForMessage({ chatId: chat, from: "bot", after }, limit)
  await new Promise((resolve) => setTimeout(resolve, restMs))
  // How long the model's stand-in reads and checks the question is no share of ours.
  return request.at - began + (calledAt - repliedAt)
}

/** No job is open: a summary that was begun is there. */
async function settled(gateway: BenchGateway): Promise<void> {
  const database = new DatabaseSync(join(gateway.stateFolder, "svc.db"), { readOnly: true })
  try {
    const open = database.prepare("select 1 from job where state in ('ready', 'running') limit 1")
    while (open.get()) await new Promise((resolve) => setTimeout(resolve, 20))
  } finally {
    database.close()
  }
}
