// A client of the relay sees each attached tab as a browser would show it.
import assert from "node:assert/strict"
import { test } from "node:test"
import pino from "pino"
import type { Message } from "../cdp/connection.ts"
import { RelayClient } from "./client.ts"
import type { RelayCommand } from "./contract.ts"
import { type ExtensionLink, Hub } from "./hub.ts"

const tab = { session: "s1", targetId: "T1", title: "Shop", url: "https://shop.example/", by: "person" as const }
const child = {
  session: "s1",
  child: "c1",
  params: { sessionId: "c1", targetInfo: { targetId: "F1", type: "iframe", url: "https://pay.example/" } },
}

test("tells a client that attaches to a tab anew of the frames that were there", async () => {
  const hub = new Hub({ log: pino({ level: "silent" }) })
  const link: ExtensionLink = {
    instance: "i1",
    userAgent: "",
    version: "1",
    send(message) {
      const { id } = message as RelayCommand
      queueMicrotask(() => hub.receive(link, { id, result: {} }))
    },
  }
  hub.connect(link)
  hub.receive(link, { type: "tabs", tabs: [tab], children: [child] })
  const told: Message[] = []
  const answers = new Map<number, PromiseWithResolvers<Message>>()
  let sessions = 0
  const client = new RelayClient({
    hub,
    newSession: () => `R${(sessions += 1)}`,
    checkOpen: async (url) => url,
    deliver(message) {
      told.push(message)
      if (message.id !== undefined) answers.get(message.id)?.resolve(message)
    },
  })
  const ask = async (id: number, method: string, params: object, sessionId?: string): Promise<Message> => {
    const answer = Promise.withResolvers<Message>()
    answers.set(id, answer)
    client.receive(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
    return await answer.promise
  }
  const framesTold = () => told.filter(({ params }) => params?.["sessionId"] === "c1").map(({ sessionId }) => sessionId)
  const autoAttach = { autoAttach: true, waitForDebuggerOnStart: false, flatten: true }

  await ask(1, "Target.attachToTarget", { targetId: "T1", flatten: true })
  await ask(2, "Target.setAutoAttach", autoAttach, "R1")
  await ask(3, "Target.setAutoAttach", autoAttach, "R1")
  assert.deepEqual(framesTold(), ["R1"])
  // What it had set up has failed half way, as it does when the extension goes away in the middle.
  await ask(4, "Target.detachFromTarget", { sessionId: "R1" })
  await ask(5, "Target.attachToTarget", { targetId: "T1", flatten: true })
  await ask(6, "Target.setAutoAttach", autoAttach, "R2")
  assert.deepEqual(framesTold(), ["R1", "R2"])
  client.close()
})
