// A process that has used up its handles, for the tests: tries what the gateway does to the outside, frees them, and tries
// again. Prints one line of JSON. Run under a small `ulimit -n`; arguments: a port where somebody answers, a folder.
import { closeSync, openSync } from "node:fs"
import { join } from "node:path"
import { createClient } from "../../src/channels/chatapp/client.ts"
import { openMedia } from "../../src/channels/shared/media/open.ts"
import { explainHandles, isOutOfHandles, systemIds, writeDurableFile } from "../../src/kernel/index.ts"
import { createMcpServer } from "../../src/mcp/index.ts"
import { createGuardedFetch } from "../../src/models/providers/guarded-fetch.ts"
import { silentLog } from "./store.ts"

const [port = "", folder = ""] = process.argv.slice(2)
const url = `http://127.0.0.1:${port}`
const client = await createClient({ token: "1:x", apiRoot: url })
const guarded = createGuardedFetch({ idleTimeoutMs: 5_000, maxResponseBytes: 1_000 })

async function attempt<T>(work: () => Promise<T>): Promise<{ isDone: boolean; isOurs?: boolean; code?: unknown }> {
  try {
    await work()
    return { isDone: true }
  } catch (error) {
    return { isDone: false, isOurs: isOutOfHandles(error), code: (explainHandles(error) as { code?: unknown }).code }
  }
}

const mcp = createMcpServer({ version: "1", browser: () => undefined, ids: systemIds, log: silentLog })
const caller = { id: "", may: () => true, drives: () => undefined, call: async () => ({}) }

/** Its first request loads what it needs for that. */
async function listTools() {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" }
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })
  const response = await mcp.handle(new Request(`${url}/mcp`, { method: "POST", headers, body }), caller)
  if (!(await response.text()).includes("deliveries")) throw new Error(`No tools: ${response.status}`)
}

async function tryAll() {
  const sent = await client.call("sendMessage", { chat_id: 1, text: "x" }, { timeoutMs: 5_000 })
  client.reset()
  return {
    send: sent.ok ? "sent" : sent.failure,
    model: await attempt(async () => (await guarded(url)).text()),
    write: await attempt(() => writeDurableFile(join(folder, "written"), "x")),
    media: await attempt(async () => (await openMedia({ path: join(folder, "file"), root: folder, maxMb: 1 })).close()),
  }
}

// What is loaded late is loaded before there is no handle for it.
await tryAll()
const used: number[] = []
try {
  for (;;) used.push(openSync("/dev/null", "r"))
} catch (error) {
  if (!isOutOfHandles(error)) throw error
}
const without = { ...(await tryAll()), mcp: await attempt(listTools) }
for (const handle of used) closeSync(handle)
const after = { ...(await tryAll()), mcp: await attempt(listTools) }
await mcp.stop()
client.close()
const line = `${JSON.stringify({ used: used.length, without, after })}\n`
process.stdout.write(line, () => process.exit(0))
