// A person among machines: 200 runs of webhooks wait, each a second long at the model; how long does a chat message take
// from its row to the begin of its turn?
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { type Emulator, startEmulator } from "../emulator/index.ts"
import { startModelServer, text } from "../test/support/model-server/index.ts"
import type { Bench, Figure } from "./figure.ts"
import { BenchGateway, hookToken } from "./gateway.ts"
import { median, percentile, round } from "./statistics.ts"

const runs = 200
const messages = 30

export const classes: Bench = {
  name: "classes",
  run: async () => [await messageAmongRuns()],
}

async function messageAmongRuns(): Promise<Figure> {
  const emulator = await startEmulator({ seed: 7 })
  const model = await startModelServer()
  const gateway = new BenchGateway()
  try {
    const ada = emulator.control.addUser({ id: 1001, firstName: "Ada" })
    model.script(async (request) => {
      if (JSON.stringify(request).includes("please do")) await delay(1_000)
      return text("done")
    })
    await gateway.configure({
      hooks: { enabled: true, token: hookToken },
      channels: { chatapp: { botToken: emulator.token, apiRoot: emulator.url, allowFrom: [ada.id] } },
      models: { providers: { test: { kind: "openai-compatible", baseUrl: model.baseUrl } } },
      agents: { defaults: { model: "test/small", heartbeat: { every: "0" } } },
      logging: { level: "warn" },
    })
    await gateway.start()
    // The same without anything beside it: what the machine and the road take by themselves.
    for (let n = 0; n < messages; n += 1) await talk(emulator, ada.id, `alone ${n}`)
    const url = `http://127.0.0.1:${gateway.port}/hooks/agent`
    const headers = { authorization: `Bearer ${hookToken}`, "content-type": "application/json" }
    for (let n = 0; n < runs; n += 1) {
      const body = JSON.stringify({ message: `please do ${n}`, deliver: false })
      const answer = await fetch(url, { method: "POST", headers, body })
      if (!answer.ok) throw new Error(`webhook ${n}: ${answer.status}`)
    }
    for (let n = 0; n < messages; n += 1) await talk(emulator, ada.id, `among ${n}`)
    const database = new DatabaseSync(join(gateway.stateFolder, "svc.db"), { readOnly: true })
    const waitsOf = (words: string) =>
      database
        .prepare("select started_at - created_at as ms from job where class = 0 and payload like ?")
        .all(`%${words}%`)
        .map((row) => Number(row["ms"]))
    const alone = waitsOf("alone ")
    const waits = waitsOf("among ")
    const waiting = database.prepare("select count(*) as n from job where class = 1 and state = 'ready'").get()
    database.close()
    const slow = percentile(waits, 0.99)
    return {
      what: `Begin of a chat message's turn while ${String(waiting?.["n"])} of ${runs} webhook runs wait`,
      target: "under 10 ms (p99)",
      measured: `${round(median(waits))} ms, p99 ${round(slow)} ms; alone ${round(median(alone))} ms, p99 ${round(percentile(alone, 0.99))} ms`,
      met: slow < 10,
    }
  } finally {
    await gateway.stop()
    await model.stop()
    await emulator.stop()
  }
}

async function talk(emulator: Emulator, userId: number, words: string): Promise<void> {
  const said = emulator.control.sendText({ userId, text: words })
  const answer = { chatId: userId, from: "bot", after: said.message_id } as const
  await emulator.control.waitForMessage(answer, { timeoutMs: 60_000 })
}
