// Sessions as people look at them, for the API, the chat commands and the command line.
import { createWriteStream, mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { type CompactInput, compactJob } from "../agent/index.ts"
import type { CommandServices } from "../channels/index.ts"
import type { GatewayActions } from "../gateway/index.ts"
import { AppError } from "../kernel/index.ts"
import {
  type ExportFormat,
  type Route,
  type Sessions,
  agentOfKey,
  deleteSession,
  findSessionKey,
  listSessions,
  noSession,
  readSession,
  readTranscript,
  renderHead,
  renderMessage,
  searchMessages,
} from "../sessions/index.ts"
import type { Store } from "../store/index.ts"
import type { Core } from "./core.ts"

/** `onChanged`: settings of a session are not there any more. */
export function sessionActions(
  { store, ids }: Pick<Core, "store" | "ids">,
  sessions: Sessions,
  onChanged: () => void,
): GatewayActions["sessions"] {
  return {
    list: (query) => listSessions(store, query),
    read: (key) => readSession(store, findSessionKey(store, key)),
    transcript: (key, query) => readTranscript(store, findSessionKey(store, key), query),
    search: ({ key, ...query }) =>
      searchMessages(store, key === undefined ? query : { ...query, key: findSessionKey(store, key) }),
    export(given, { format, conversation }) {
      const key = findSessionKey(store, given)
      const pieces = exported(store, key, { format, conversation, counted: { messages: 0 } })
      const first = pieces.next()
      return (function* () {
        if (first.done !== true) yield first.value
        yield* pieces
      })()
    },
    remove: (key) => deleteSession(store, findSessionKey(store, key)).finally(onChanged),
    async compact(given, instructions) {
      const key = findSessionKey(store, given)
      const session = sessions.find(key)
      if (!session) throw noSession(key)
      const runId = ids.uuid()
      const input: CompactInput = {
        agentId: session.agentId,
        sessionKey: key,
        ...(instructions ? { instructions } : {}),
      }
      await store.write(async (write) => void write.addJob(compactJob(runId, input)))
      return { runId }
    },
  }
}

/** What one file may have in the chat at a route. */
export type MaxFile = (route: Route) => { megabytes: number; key: string } | undefined

export function archiveServices(core: Core, maxFile: MaxFile): CommandServices["archive"] {
  return {
    compact: (write, input) => void write.addJob(compactJob(core.ids.uuid(), input)),
    async export(key, { format, name, route }) {
      if (agentOfKey(key) === undefined) return undefined
      const folder = join(core.environment.stateFolder, "media", "outgoing")
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const path = join(folder, `conversation-${name}.${format === "jsonl" ? "jsonl" : "md"}`)
      const counted = { messages: 0 }
      const text = Readable.from(redacted(core, exported(core.store, key, { format, counted })))
      const file = createWriteStream(path, { mode: 0o600 })
      await pipeline(text, file)
      const most = maxFile(route)
      if (most && file.bytesWritten > most.megabytes * mebibyte) {
        rmSync(path, { force: true })
        throw tooLarge(key, { format, messages: counted.messages, bytes: file.bytesWritten, ...most })
      }
      const mediaType = format === "jsonl" ? "application/jsonl" : "text/markdown"
      return { media: { path, mediaType }, messages: counted.messages }
    },
  }
}

const mebibyte = 1024 * 1024

interface TooLarge {
  format: ExportFormat
  messages: number
  bytes: number
  megabytes: number
  key: string
}

function tooLarge(session: string, { format, messages, bytes, megabytes, key }: TooLarge): AppError {
  const size = `${Math.ceil(bytes / mebibyte)} MB`
  const smaller = format === "jsonl" ? "`/export markdown` is smaller. " : ""
  return new AppError(
    "media-refused",
    `The conversation has ${messages} messages: ${size}, and a file may have ${megabytes} MB here (\`${key}\`).`,
    { hint: `${smaller}On the gateway's machine: \`svc sessions export ${session} --format ${format} --out <file>\`` },
  )
}

function* redacted({ redactor }: Core, pieces: Iterable<string>): Generator<string> {
  for (const piece of pieces) yield redactor.redact(piece)
}

const page = 200

interface Exporting {
  format: ExportFormat
  conversation?: string | undefined
  counted: { messages: number }
}

/** A page at a time: a long conversation never stands in memory whole. */
function* exported(store: Store, key: string, { format, conversation, counted }: Exporting): Generator<string> {
  let head = renderHead(format, key)
  for (let after: number | null = 0; after !== null;) {
    const { items, next } = readTranscript(store, key, { limit: page, after, conversation })
    counted.messages += items.length
    yield head + items.map((item) => renderMessage(format, item)).join("")
    head = ""
    after = next
  }
}
