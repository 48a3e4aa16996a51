// Whoever waits for the outside can stop waiting: an abort in the middle of a call ends the call, its connection or its
// process with it, at each place where this program waits for somebody else. The other side accepts and then says nothing.
import assert from "node:assert/strict"
import { chmodSync, writeFileSync } from "node:fs"
import { type ServerResponse, createServer } from "node:http"
import { type AddressInfo, createServer as createTcpServer } from "node:net"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { parseCdpAddress } from "../../src/browser/cdp/index.ts"
import { askVersion } from "../../src/browser/cdp/endpoints.ts"
import { createTransport } from "../../src/channels/chatapp/transport.ts"
import { createGoogleCaller } from "../../src/hooks/gmail/google-call.ts"
import { createBatchPoster } from "../../src/hooks/gmail/post-batch.ts"
import { createTailscale } from "../../src/hooks/gmail/tunnel.ts"
import { guardedPost } from "../../src/hooks/guarded-post.ts"
import { systemClock } from "../../src/kernel/index.ts"
import { boundedFetch } from "../../src/mcp/client/http.ts"
import { createGuardedFetch } from "../../src/models/providers/guarded-fetch.ts"
import { askManager } from "../../src/secrets/managers.ts"
import { createRunCommand } from "../../src/service/run-command.ts"
import { temporaryFolder } from "../support/temporary.ts"

/** So long that a call which ignores the abort is noticed by the limit of the test, not ended by its own. */
const longMs = 600_000

interface Silent {
  url: string
  /** Resolves when somebody has asked, and has been given what there is to be had. */
  asked: Promise<void>
  /** Resolves when their connection is gone. */
  left: Promise<void>
}

type Call = (silent: Silent, signal: AbortSignal) => Promise<unknown>

async function silentServer(context: TestContext, begin: (response: ServerResponse) => void): Promise<Silent> {
  const asked = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    request.resume()
    request.socket.on("close", () => left.resolve())
    begin(response)
    asked.resolve()
  })
  server.listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  context.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/`, asked: asked.promise, left: left.promise }
}

const models = createGuardedFetch({ idleTimeoutMs: longMs, maxResponseBytes: 1_000_000 })
const google = createGoogleCaller({ clock: systemClock, transport: fetch })
const batch = { deliveryId: "1", account: "a@b", payload: { messages: [] } }
const post = { headers: {}, body: "{}", allowPrivate: true, timeoutMs: longMs }

const calls: Record<string, Call> = {
  "a model's provider": (silent, signal) => models(silent.url, { signal }).then((response) => response.text()),
  "the chat platform": (silent, signal) => createTransport(silent.url).fetch(silent.url, { body: "{}", signal }),
  "a browser's address": (silent, signal) => askVersion(parseCdpAddress(silent.url), { timeoutMs: longMs, signal }),
  "an API of Google": (silent, signal) => google.call({ method: "GET", url: silent.url, signal }),
  "a gateway that takes mails": (silent, signal) =>
    createBatchPoster({ url: silent.url, token: "t", clock: systemClock })(batch, signal),
  "an address that gets results": (silent, signal) => guardedPost({ ...post, url: silent.url, signal }),
  "an MCP server": (silent, signal) => boundedFetch(silent.url, { signal }).then((response) => response.text()),
}

const file: Call = async (silent, signal) => {
  const response = await createTransport(silent.url).open(silent.url, signal)
  for await (const _chunk of response);
}

async function abortInMidCall(silent: Silent, call: Call): Promise<void> {
  const abort = new AbortController()
  const ended = assert.rejects(call(silent, abort.signal))
  await silent.asked
  abort.abort()
  await Promise.all([ended, silent.left])
}

for (const [what, call] of Object.entries(calls)) {
  test(`an abort ends the call of ${what} that says nothing`, async (context) => {
    await abortInMidCall(await silentServer(context, () => undefined), call)
  })
}

const answeredInPart: Record<string, Call> = { ...calls, "a file of the chat platform": file }
// Only the status of its answer is asked for.
delete answeredInPart["a gateway that takes mails"]

for (const [what, call] of Object.entries(answeredInPart)) {
  test(`an abort ends the call of ${what} that stops in the middle of its answer`, async (context) => {
    const silent = await silentServer(context, (response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.write('{"ok": ')
    })
    await abortInMidCall(silent, call)
  })
}

/** A program that says where it has come to, and never ends by itself. */
async function silentProgram(context: TestContext, name: string) {
  const folder = temporaryFolder()
  const begun = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  const door = createTcpServer((socket) => {
    socket.on("error", () => undefined)
    socket.on("close", () => ended.resolve())
    begun.resolve()
  })
  door.listen(0, "127.0.0.1")
  await new Promise((resolve) => door.once("listening", resolve))
  context.after(() => door.close())
  const { port } = door.address() as AddressInfo
  const path = join(folder, name)
  writeFileSync(
    path,
    `#!${process.execPath}\nrequire("node:net").connect(${port}, "127.0.0.1").on("error", () => process.exit(1)).resume()\n`,
  )
  chmodSync(path, 0o755)
  return { environment: { PATH: `${folder}:${process.env["PATH"]}` }, begun: begun.promise, ended: ended.promise }
}

const programs: Record<string, [string, (environment: { PATH: string }, signal: AbortSignal) => Promise<unknown>]> = {
  "the manager of services": [
    "systemctl",
    (variables, signal) => createRunCommand({ variables, signal })(["systemctl", "show"]),
  ],
  "a manager of secrets": [
    "op",
    (variables, signal) => askManager({ program: "op", words: ["read", "x"] }, variables, signal),
  ],
  "a tunnel": ["tailscale", (variables, signal) => createTailscale(variables)(["status", "--json"], signal)],
}

for (const [what, [name, call]] of Object.entries(programs)) {
  test(`an abort ends the program of ${what}`, async (context) => {
    const program = await silentProgram(context, name)
    const abort = new AbortController()
    const rejected = assert.rejects(call(program.environment, abort.signal))
    await program.begun
    abort.abort()
    await Promise.all([rejected, program.ended])
  })
}
