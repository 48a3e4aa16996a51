// A crowd: 200 messages of 50 people at once, answered by an instant model. Time until the last reply is written and on its
// way, the order of every chat, nothing missing and nothing twice. How fast replies leave after that is the platform's: it
// lets a bot send about thirty a second.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { setTimeout as delay } from "node:timers/promises"
import { startEmulator } from "../emulator/index.ts"
import { startModelServer } from "../test/support/model-server/index.ts"
import { BenchGateway } from "./gateway.ts"
import type { Bench, Figure } from "./figure.ts"
import { round } from "./statistics.ts"

const people = 50
const perPerson = 4
const total = people * perPerson
const targetSeconds = 1.5

export const crowd: Bench = {
  name: "crowd",
  async run(): Promise<Figure[]> {
    const emulator = await startEmulator()
    const model = await startModelServer({
      script: (request) => ({
        kind: "reply",
        text: `re ${request
          .promptText()
          .match(/(?<=say )\d+-\d+/g)
          ?.at(-1)}`,
      }),
    })
    const gateway = new BenchGateway()
    try {
      await gateway.configure({
        // Each message a turn of its own: what comes during one is joined else.
        messages: { queue: { mode: "followup" } },
        channels: {
          chatapp: {
            apiRoot: emulator.url,
            botToken: emulator.token,
            dmPolicy: "open",
            allowFrom: ["*"],
            groupPolicy: "open",
            groups: { "*": { requireMention: false } },
          },
        },
        models: { providers: { local: { kind: "openai-compatible", baseUrl: model.baseUrl } } },
        agents: { defaults: { model: "local/instant", heartbeat: { every: "0" } } },
      })
      await gateway.start()
      const warm = emulator.control.addUser()
      emulator.control.sendText({ userId: warm.id, text: "say 99-99" })
      await emulator.control.waitForMessage({ chatId: warm.id, from: "bot" }, { timeoutMs: 20_000 })
      // Groups of one: every chat is a session of its own, while direct chats share the main one.
      const chats = Array.from({ length: people }, () => {
        const user = emulator.control.addUser()
        const members = [user.id]
        const chat = emulator.control.addChat({ type: "supergroup", members, botStatus: "administrator" })
        return { userId: user.id, chatId: chat.id }
      })
      let replies = 0
      const all = emulator.control.waitForEvent(
        (event) => {
          if (event.type === "message" && event.from === "bot") replies += 1
          return replies === total ? true : undefined
        },
        { timeoutMs: 60_000 },
      )
      const repliesBefore = repliesWritten(gateway)
      const usedBefore = cpuSeconds(gateway.process?.pid)
      const began = performance.now()
      for (let turn = 0; turn < perPerson; turn += 1) {
        for (const [index, chat] of chats.entries()) {
          emulator.control.sendText({ ...chat, text: `say ${index}-${turn}` })
        }
      }
      while (repliesWritten(gateway) < total + repliesBefore) await delay(10)
      const seconds = (performance.now() - began) / 1000
      const used = cpuSeconds(gateway.process?.pid) - usedBefore
      await all
      const sentSeconds = (performance.now() - began) / 1000
      const inOrder = chats.filter(({ chatId }, index) => {
        const texts = emulator.control
          .messages({ chatId })
          .filter((message) => message.from?.is_bot)
          .map((message) => message.text)
        return texts.join() === Array.from({ length: perPerson }, (_, turn) => `re ${index}-${turn}`).join()
      }).length
      return [
        {
          what: `${total} messages of ${people} chats at once, instant model: until the last reply is written`,
          target: `at most ${targetSeconds} s, each answered once and in order`,
          measured: `${round(seconds, 2)} s (${round(used, 2)} s of the gateway's own CPU); sent at the platform's pace after ${round(sentSeconds, 1)} s; ${inOrder} of ${people} chats complete and in order`,
          met: seconds <= targetSeconds && inOrder === people,
        },
      ]
    } finally {
      await gateway.stop()
      await model.stop()
      await emulator.stop()
    }
  },
}

function repliesWritten(gateway: BenchGateway): number {
  const database = new DatabaseSync(join(gateway.stateFolder, "svc.db"), { readOnly: true })
  try {
    return Number(database.prepare("select count(*) as n from outbox").get()?.["n"])
  } finally {
    database.close()
  }
}

/** User and system time of a process; the kernel counts in hundredths. */
function cpuSeconds(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
