// A gateway's door for nodes on a real listener, and nodes that connect to it, for the tests of both sides.
import { rm } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { type TestContext, after, before } from "node:test"
import { endAll } from "../../test/support/ends.ts"
import { silentLog, testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { createBackground, createRedactor, systemClock, systemIds } from "../kernel/index.ts"
import type { NodeRow, Store } from "../store/index.ts"
import { Nodes, type NodesOptions } from "./gateway/nodes.ts"
import { Connection, type ConnectionOptions } from "./host/connection.ts"
import { Identity } from "./host/identity.ts"

/** Short, so that no test waits. */
export const pulse = { busyMs: 40, idleMs: 80, answerMs: 250 }
const pauses = { attempts: Infinity, minDelayMs: 20, maxDelayMs: 100, jitter: 0 }

/** One for all tests of a file, which calls `shareStore` at its top: making one takes longer than most of them. */
let shared: Store | undefined

export function shareStore(): void {
  const ends: (() => unknown)[] = []
  before(async () => {
    // A hook's own `after` comes at the end of the hook.
    shared = await testStore({ after: (end: () => unknown) => void ends.push(end) } as unknown as TestContext)
  })
  after(() => endAll(ends))
}

function emptyStore(): Store {
  if (!shared) throw new Error("the file has not called shareStore")
  shared.handle.prepare("delete from node").run()
  return shared
}

export async function startDoor(context: TestContext, options: Partial<NodesOptions> & { isOther?: true } = {}) {
  const asked: NodeRow[] = []
  const nodes = new Nodes({
    store: options.isOther ? await testStore(context) : emptyStore(),
    stateFolder: temporaryFolder(),
    clock: systemClock,
    ids: systemIds,
    log: silentLog,
    background: createBackground(silentLog),
    redactor: createRedactor(),
    tell: (_write, row) => asked.push(row) > 0,
    pulse,
    ...options,
  })
  const server = createServer()
  server.on("upgrade", (request, socket, head) => nodes.upgrade(request, socket, head))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  context.after(async () => {
    await nodes.stop()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { nodes, asked, port }
}

export interface TestNode {
  connection: Connection
  identity: Identity
  folder: string
  said: string[]
  /** Resolves with the first line that was said, now or later, and that matches. */
  says(match: RegExp): Promise<string>
  ended: Promise<string>
}

export function startNode(
  context: TestContext,
  port: number,
  options: Partial<ConnectionOptions> & { folder?: string } = {},
): TestNode {
  const folder = options.folder ?? temporaryFolder()
  const identity = new Identity(folder)
  const said: string[] = []
  const waiting = new Set<() => void>()
  const connection = new Connection({
    address: `ws://127.0.0.1:${port}/node`,
    identity,
    name: "studio",
    version: "1.0.0",
    offers: () => ({ commands: ["browser.proxy"], browser: { profiles: ["managed"], defaultProfile: "managed" } }),
    perform: async ({ params }) => ({ status: 200, body: { echo: params }, files: [] }),
    placeFor: () => join(folder, "files", systemIds.uuid()),
    removeFile: (path) => rm(path, { force: true }),
    say(text) {
      said.push(text)
      for (const look of waiting) look()
    },
    pulse,
    pauses,
    ...options,
  })
  const ended = connection.run()
  context.after(async () => {
    connection.stop()
    await ended
  })
  const says = (match: RegExp) =>
    new Promise<string>((resolve) => {
      const look = () => {
        const found = said.find((text) => match.test(text))
        if (found === undefined) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
    })
  return { connection, identity, folder, said, says, ended }
}

/** Lets a node in that waits for it. */
export async function letIn(nodes: Nodes, node: TestNode) {
  const code = /approve (\S+)/.exec(await node.says(/waiting to be let in/))?.[1] ?? ""
  const summary = await nodes.approve(code, "test")
  await node.says(/connected to/)
  return summary
}
