// Delivery to a webhook: order in a chat, retries, secrets, method calls as answers.
import assert from "node:assert/strict"
import { once } from "node:events"
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { openBench, type Bench } from "../testing.ts"

interface Delivery {
  update: Record<string, unknown> & { update_id: number }
  headers: IncomingHttpHeaders
  answer(status: number, body?: object, headers?: Record<string, string>): void
}

/** A webhook whose test decides the answer to each delivery. */
async function openHook() {
  const deliveries: Delivery[] = []
  const waiting: ((delivery: Delivery) => void)[] = []
  const server = createServer(async (request, response: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const update = JSON.parse(Buffer.concat(chunks).toString()) as Delivery["update"]
    const delivery: Delivery = {
      update,
      headers: request.headers,
      answer: (status, body, headers) => {
        response.writeHead(status, { ...(body ? { "content-type": "application/json" } : {}), ...headers })
        response.end(body ? JSON.stringify(body) : undefined)
      },
    }
    const next = waiting.shift()
    if (next) next(delivery)
    else deliveries.push(delivery)
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    pending: deliveries,
    next: (): Promise<Delivery> => {
      const ready = deliveries.shift()
      return ready ? Promise.resolve(ready) : new Promise((resolve) => waiting.push(resolve))
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, "close")
    },
  }
}

/** Resolves once the emulator has seen the answer to a delivery. */
function delivered(bench: Bench): Promise<number> {
  return bench.emulator.control.waitForEvent((event) => (event.type === "webhook" ? event.status : undefined))
}

test("delivers with the secret, one update of a chat at a time, other chats beside it", async () => {
  await using bench = await openBench({ localMode: true })
  await using hook = await openHook()
  const { control } = bench.emulator
  const bob = control.addUser({ id: 1002 })
  control.sendText({ userId: 1001, text: "second of Ada" })
  control.sendText({ userId: bob.id, text: "first of Bob" })
  await bench.call("setWebhook", { url: hook.url, secret_token: "s3cret" })
  const [one, two] = [await hook.next(), await hook.next()]
  assert.equal(one.headers["x-telegram-bot-api-secret-token"], "s3cret")
  const texts = [one, two].map(({ update }) => (update["message"] as { text: string }).text)
  assert.deepEqual(texts.sort(), ["/start", "first of Bob"])
  assert.equal(hook.pending.length, 0)
  one.answer(200)
  two.answer(200)
  const three = await hook.next()
  assert.equal((three.update["message"] as { text: string }).text, "second of Ada")
  const done = delivered(bench)
  three.answer(204)
  await done
  assert.equal(control.updates().length, 0)
})

test("tries again at once, then after growing pauses, and honours Retry-After", async () => {
  await using bench = await openBench({ localMode: true })
  await using hook = await openHook()
  const { control } = bench.emulator
  const fail = async (headers?: Record<string, string>) => {
    const delivery = await hook.next()
    const seen = delivered(bench)
    delivery.answer(500, undefined, headers)
    await seen
    return delivery.update.update_id
  }
  await bench.call("setWebhook", { url: hook.url })
  const ids = [await fail(), await fail()]
  control.advanceClock({ ms: 1999 })
  assert.equal(hook.pending.length, 0)
  control.advanceClock({ ms: 1 })
  ids.push(await fail())
  control.advanceClock({ ms: 4000 })
  ids.push(await fail({ "retry-after": "100" }))
  const { result } = (await bench.call("getWebhookInfo")).body as { result: Record<string, unknown> }
  assert.equal(result["last_error_message"], "Wrong response from the webhook: 500 Internal Server Error")
  assert.equal(result["pending_update_count"], 1)
  control.advanceClock({ ms: 100_000 })
  ids.push((await hook.next()).update.update_id)
  assert.equal(new Set(ids).size, 1)
})

test("runs a method call that comes as the answer", async () => {
  await using bench = await openBench({ localMode: true })
  await using hook = await openHook()
  await bench.call("setWebhook", { url: hook.url })
  const delivery = await hook.next()
  delivery.answer(200, { method: "sendMessage", chat_id: 1001, text: "by the way" })
  const message = await bench.emulator.control.waitForMessage({ chatId: 1001, from: "bot" })
  assert.equal(message.text, "by the way")
  assert.equal(bench.emulator.control.calls({ method: "sendMessage" })[0]?.via, "webhook")
})

test("drops an update that expires, and goes on", async () => {
  await using bench = await openBench({ localMode: true })
  await using hook = await openHook()
  const { control } = bench.emulator
  await bench.call("setWebhook", { url: hook.url })
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const delivery = await hook.next()
    const seen = delivered(bench)
    delivery.answer(500)
    await seen
  }
  control.advanceClock({ ms: 24 * 3_600_000 })
  control.sendText({ userId: 1001, text: "today" })
  let delivery = await hook.next()
  if ((delivery.update["message"] as { text: string }).text !== "today") {
    delivery.answer(200)
    delivery = await hook.next()
  }
  assert.equal((delivery.update["message"] as { text: string }).text, "today")
})

test("polling and a webhook exclude each other", async () => {
  await using bench = await openBench({ localMode: true })
  await using hook = await openHook()
  const { control } = bench.emulator
  await bench.call("getUpdates", { offset: -1 })
  const updates = (await bench.call("getUpdates")).body.result as { update_id: number }[]
  const offset = (updates[0]?.update_id ?? 0) + 1
  const last = control.calls().at(-1)?.id ?? 0
  const poll = bench.call("getUpdates", { offset, timeout: 30 })
  await control.waitForCall({ method: "getUpdates", phase: "started", after: last })
  await bench.call("setWebhook", { url: hook.url })
  assert.equal((await poll).body.description, "Conflict: terminated by setWebhook request")
  const refused = bench.call("getUpdates")
  await control.waitForCall({ method: "getUpdates", phase: "started", after: last + 2 })
  control.advanceClock({ ms: 3000 })
  assert.match((await refused).body.description ?? "", /^Conflict: can't use getUpdates method while webhook is active/)
  assert.equal((await bench.call("deleteWebhook")).body.description, "Webhook was deleted")
  assert.equal((await bench.call("deleteWebhook")).body.description, "Webhook is already deleted")
  assert.equal((await bench.call("getUpdates")).body.ok, true)
})

test("checks a webhook's address and secret as the platform does", async () => {
  await using bench = await openBench()
  const set = (fields: object) => bench.refusal("setWebhook", { url: "https://example.com/hook", ...fields })
  assert.equal(await set({ url: "ftp://x" }), "Bad Request: invalid webhook URL specified")
  assert.equal(
    await set({ url: "http://example.com" }),
    "Bad Request: bad webhook: An HTTPS URL must be provided for webhook",
  )
  assert.equal(
    await set({ url: "https://example.com:8080" }),
    "Bad Request: bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443",
  )
  assert.equal(await set({ url: "https://127.0.0.1/" }), "Bad Request: bad webhook: IP address 127.0.0.1 is reserved")
  assert.equal(await set({ secret_token: "a b" }), "Bad Request: secret token contains unallowed characters")
  assert.equal(await set({ secret_token: "a".repeat(257) }), "Bad Request: secret token is too long")
})
