// Tools as they were accepted, by server: a row each, with the hash of the whole definition. Words that describe a tool go
// to the model, so a server that changes them later (or is no longer who it was) must not do so unseen.
import { createHash } from "node:crypto"
import { canonicalJson } from "../../approvals/index.ts"
import { type JsonObject, parseJson } from "../../kernel/index.ts"
import type { Store, Write } from "../../store/index.ts"

/** What a server says of a tool, as far as it matters to us. */
export interface ToolDefinition {
  name: string
  description: string
  inputSchema: JsonObject
}

export interface Pin extends ToolDefinition {
  hash: string
}

export interface Pins {
  /** Undefined: nothing of this server, started in this way, was accepted yet. */
  of(server: string, source: string): readonly Pin[] | undefined
  /** In place of all that there is of the server. Durable when it resolves. */
  replace(server: string, source: string, tools: readonly ToolDefinition[]): Promise<void>
  /** One tool, beside the others. Durable when it resolves. */
  accept(server: string, source: string, tool: ToolDefinition): Promise<void>
  /** The same within a transaction; after that has ended, however it did, `reread`. */
  acceptIn(write: Write, server: string, source: string, tool: ToolDefinition): void
  reread(): void
}

export function hashOf({ name, description, inputSchema }: ToolDefinition): string {
  return createHash("sha256").update(canonicalJson({ name, description, inputSchema })).digest("base64url")
}

/** Nothing but what is hashed is kept. */
function wordsOf({ name, description, inputSchema }: ToolDefinition): ToolDefinition {
  return { name, description, inputSchema }
}

interface Row {
  name: string
  hash: string
  definition: string
}

export function createPins(store: Store): Pins {
  const known = new Map<string, readonly Pin[] | undefined>()
  const keyOf = (server: string, source: string) => `${server} ${source}`
  const read = (server: string, source: string): readonly Pin[] | undefined => {
    const rows = store.handle
      .prepare("select name, hash, definition from mcp_tool where server = ? and source = ? order by name")
      .all(server, source) as unknown as Row[]
    if (rows.length === 0) return undefined
    return rows.map(({ hash, definition }) => ({ ...(parseJson(definition) as unknown as ToolDefinition), hash }))
  }
  const insert = (write: Write, server: string, source: string, tool: ToolDefinition) =>
    write
      .prepare(
        `insert into mcp_tool (server, name, source, hash, definition, accepted_at) values (?, ?, ?, ?, ?, ?)
         on conflict (server, name) do update set source = excluded.source, hash = excluded.hash,
           definition = excluded.definition, accepted_at = excluded.accepted_at`,
      )
      .run(server, tool.name, source, hashOf(tool), JSON.stringify(wordsOf(tool)), write.now)
  return {
    of(server, source) {
      const key = keyOf(server, source)
      if (!known.has(key)) known.set(key, read(server, source))
      return known.get(key)
    },
    async replace(server, source, tools) {
      await store.write(async (write) => {
        write.prepare("delete from mcp_tool where server = ?").run(server)
        for (const tool of tools) insert(write, server, source, tool)
      })
      known.clear()
    },
    async accept(server, source, tool) {
      await store.write(async (write) => void insert(write, server, source, tool))
      known.clear()
    },
    acceptIn: insert,
    reread: () => known.clear(),
  }
}
