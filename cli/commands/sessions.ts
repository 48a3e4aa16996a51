// `svc sessions`: conversations by their keys; what was said in them, to find, to take along, to shorten and to remove.
import { type FileHandle, open as openFile, rm } from "node:fs/promises"
import { type Command, Option } from "commander"
import { AppError } from "../../src/kernel/errors.ts"
import type { RunDetail } from "../../src/gateway/api.ts"
import type {
  SearchHit,
  SessionDetail,
  SessionSummary,
  TranscriptMessage,
  TranscriptPage,
} from "../../src/sessions/archive/contract.ts"
import { type ExportFormat, renderHead, renderMessage, textOfMessage } from "../../src/sessions/archive/render.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { olderOption, readItems } from "../gateway/items.ts"
import {
  addExamples,
  addGatewayOptions,
  addPageOptions,
  wholeNumber,
  type GatewayOptions,
  type PageOptions,
} from "../options.ts"
import { formatTable } from "../table.ts"
import { printable, printableLine } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

const main = "agent:main:main"

export function addSessions(program: Command, context: CliContext): void {
  const sessions = program
    .command("sessions")
    .description("Look at conversations, search, export, compact and delete them")
  addList(sessions, context)
  addShow(sessions, context)
  addSearch(sessions, context)
  addExport(sessions, context)
  addCompact(sessions, context)
  addDelete(sessions, context)
  addExamples(
    sessions,
    "svc sessions",
    'svc sessions search "train to Kyiv"',
    `svc sessions export ${main} --out main.md`,
  )
}

function addList(sessions: Command, context: CliContext): void {
  const list = sessions.command("list", { isDefault: true }).description("List sessions, last used first")
  addGatewayOptions(list)
    .option("--limit <n>", "how many", wholeNumber("--limit", 1, 500), 50)
    .option("--before <ms>", "only those last used before this time, to page on", readTimestamp)
    .option("--agent <id>", "only those of this agent")
    .action(async (options: GatewayOptions & { limit: number; before?: number; agent?: string }) => {
      const { limit, before, agent } = options
      const answer = await connectGateway(context, options).call("GET", "/api/sessions", {
        query: { limit, before, agent },
      })
      if (options.json) return context.output.json(answer)
      context.output.write(describeSessions(readItems(answer, "items")))
      const older = olderOption(answer)
      if (older !== undefined) context.output.note(`older ones: svc sessions list ${older}`)
    })
  addExamples(list, "svc sessions list --agent main")
}

function describeSessions(sessions: readonly SessionSummary[]): string {
  if (sessions.length === 0) return "no sessions\n"
  const rows = sessions.map(({ key, kind, updatedAt, messages, tokens, lastRoute }) => [
    key,
    kind,
    describeTime(updatedAt),
    String(messages),
    String(tokens),
    lastRoute && `${lastRoute.channel} ${lastRoute.chatId}`,
  ])
  return formatTable(["Session", "Kind", "Last used", "Messages", "Tokens", "Last chat"], rows)
}

function addShow(sessions: Command, context: CliContext): void {
  const show = sessions
    .command("show")
    .description("Show one session and the end of its conversation")
    .argument("<key>", "key as in the list")
  addGatewayOptions(show)
    .option("--messages <n>", "how many of the newest messages", wholeNumber("--messages", 0, 500), 10)
    .action(async (key: string, options: GatewayOptions & { messages: number }) => {
      const client = connectGateway(context, options)
      const session = (await client.call("GET", "/api/session", { query: { key } })) as SessionDetail
      const query = { key, last: "true", limit: options.messages }
      const page = options.messages === 0 ? { items: [] } : await client.call("GET", "/api/session/messages", { query })
      const messages = readItems<TranscriptMessage>(page, "items")
      if (options.json) return context.output.json({ ...session, transcript: messages })
      context.output.write(describeSession(session))
      for (const entry of messages) context.output.write(`\n${describeMessage(entry)}`)
    })
  addExamples(show, `svc sessions show ${main} --messages 20`)
}

function describeSession(session: SessionDetail): string {
  const settings = Object.entries(session.settings).map(([name, value]) => `${name} ${JSON.stringify(value)}`)
  const head = formatTable(
    ["Session", session.key],
    [
      ["Agent", session.agentId],
      ["Kind", session.kind],
      ["Conversation", `${session.sessionId}, since ${describeTime(session.createdAt)}`],
      ["Last used", describeTime(session.updatedAt)],
      ["Messages", `${session.messages}, about ${session.tokens} tokens`],
      ["Last chat", session.lastRoute && `${session.lastRoute.channel} ${session.lastRoute.chatId}`],
      ["Settings", settings.join(", ")],
    ],
  )
  const over = session.conversations.filter(({ endedAt }) => endedAt !== null)
  if (over.length === 0) return head
  const rows = over.map(({ sessionId, createdAt, endedAt, messages }) => [
    sessionId,
    describeTime(createdAt),
    describeTime(endedAt),
    String(messages),
  ])
  return `${head}\n${formatTable(["Earlier conversation", "From", "To", "Messages"], rows)}`
}

const longestShown = 2_000

function describeMessage({ id, at, message, origin, trusted, isSummary }: TranscriptMessage): string {
  const text = textOfMessage(message)
  const calls = message.role === "assistant" ? message.toolCalls.map(({ name }) => `(calls ${name})`) : []
  const shown = text.length > longestShown ? `${text.slice(0, longestShown)}… (${text.length} characters)` : text
  const whose = trusted ? "" : `, words of others (${origin})`
  const head = `${id} ${isSummary ? "summary" : message.role}, ${describeTime(at)}${whose}`
  return `${printableLine(head)}\n${printable([shown, ...calls].filter((part) => part !== "").join("\n")).replace(/^/gm, "  ")}\n`
}

function addSearch(sessions: Command, context: CliContext): void {
  const search = sessions
    .command("search")
    .description("Find messages of all conversations by their words, newest first")
    .argument("<text...>", "words, or parts of words; all of them must be there")
  addPageOptions(addGatewayOptions(search))
    .option("--session <key>", "only in this session")
    .option("--agent <id>", "only with this agent")
    .action(async (words: string[], options: GatewayOptions & PageOptions & { session?: string; agent?: string }) => {
      const { limit, before, session, agent } = options
      const text = words.join(" ")
      const query = { text, limit, before, session, agent }
      const answer = await connectGateway(context, options).call("GET", "/api/search", { query })
      if (options.json) return context.output.json(answer)
      const hits = readItems<SearchHit>(answer, "items")
      if (hits.length === 0) return context.output.line("nothing found")
      for (const hit of hits) context.output.write(describeHit(hit))
      const older = olderOption(answer)
      if (older !== undefined) context.output.note(`older ones: svc sessions search ${JSON.stringify(text)} ${older}`)
    })
  addExamples(search, "svc sessions search invoice 2026", `svc sessions search ferry --session ${main}`)
}

function describeHit({ id, key, at, role, excerpt, trusted, origin }: SearchHit): string {
  const whose = trusted ? "" : `, words of others (${origin})`
  const place = key === "" ? "an older conversation" : key
  return `${printableLine(`${describeTime(at)} ${place} ${role} ${id}${whose}`)}\n  ${printableLine(excerpt)}\n`
}

function addExport(sessions: Command, context: CliContext): void {
  const command = sessions
    .command("export")
    .description("Write a conversation out, whole, as JSON lines or Markdown")
    .argument("<key>", "key as in the list")
  addGatewayOptions(command)
    .addOption(new Option("--format <format>", "how").choices(["jsonl", "markdown"]).default("markdown"))
    .option("--conversation <id>", "an earlier conversation by its id or the beginning of it, or `all`")
    .option("--out <file>", "write to this file, which must not be there yet, and not to the terminal")
    .action(async (key: string, options: GatewayOptions & ExportOptions) => {
      const { out } = options
      const messages = await exportTo(
        async () => (out === undefined ? terminalSink(context) : await fileSink(out)),
        key,
        options,
        context,
      )
      if (options.out === undefined) return
      if (options.json) return context.output.json({ file: options.out, messages })
      context.output.line(`${messages} messages written to ${options.out}`)
    })
  addExamples(
    command,
    `svc sessions export ${main} --format jsonl > main.jsonl`,
    `svc sessions export ${main} --conversation all --out all.md`,
  )
}

interface ExportOptions {
  format: ExportFormat
  conversation?: string
  out?: string
}

interface Sink {
  write(text: string): Promise<void>
  end(): Promise<void>
  /** A part of a conversation is not left for the whole. */
  discard(): Promise<void>
}

/** Opens the sink when the first page is there: what cannot be read leaves no file, and writes nothing. */
async function exportTo(
  open: () => Promise<Sink>,
  key: string,
  options: GatewayOptions & ExportOptions,
  context: CliContext,
): Promise<number> {
  const client = connectGateway(context, options)
  // `--json` without a file is the machine's form.
  const format = options.json && options.out === undefined ? "jsonl" : options.format
  const read = async (after: number): Promise<TranscriptPage> => {
    const query = { key, after, limit: 500, conversation: options.conversation }
    return (await client.call("GET", "/api/session/messages", { query })) as TranscriptPage
  }
  const first = await read(0)
  const sink = await open()
  try {
    await sink.write(renderHead(format, key))
    let count = 0
    for (let page = first; ; page = await read(page.next)) {
      for (const entry of page.items) await sink.write(renderMessage(format, entry))
      count += page.items.length
      if (page.next === null) break
    }
    await sink.end()
    return count
  } catch (error) {
    await sink.discard()
    throw error
  }
}

function terminalSink({ output }: CliContext): Sink {
  // What goes into a pipe or a file stays what was said.
  const form = process.stdout.isTTY ? printable : (text: string) => text
  const nothing = async () => undefined
  return { write: async (text) => output.write(form(text)), end: nothing, discard: nothing }
}

async function fileSink(path: string): Promise<Sink> {
  const refuse = (error: unknown) => {
    const { code, message } = error as NodeJS.ErrnoException
    const reason = code === "EEXIST" ? "it is there already" : message
    return new AppError("bad-request", `${path} cannot be written: ${reason}`, {
      hint: "Name another file with --out",
      cause: error,
    })
  }
  let file: FileHandle
  try {
    file = await openFile(path, "wx", 0o600)
  } catch (error) {
    throw refuse(error)
  }
  return {
    async write(text) {
      try {
        await file.writeFile(text)
      } catch (error) {
        throw refuse(error)
      }
    },
    end: () => file.close(),
    async discard() {
      await file.close()
      await rm(path, { force: true })
    },
  }
}

const lookAgainMs = 250

function addCompact(sessions: Command, context: CliContext): void {
  const command = sessions
    .command("compact")
    .description("Put a summary in the place of the older part of a conversation; nothing is removed")
    .argument("<key>", "key as in the list")
  addGatewayOptions(command)
    .option("--instructions <text>", "what matters in the summary")
    .option("--no-wait", "do not wait until it is done")
    .action(async (key: string, options: GatewayOptions & { instructions?: string; wait: boolean }) => {
      const client = connectGateway(context, options)
      const body = { key, ...(options.instructions === undefined ? {} : { instructions: options.instructions }) }
      const { runId } = (await client.call("POST", "/api/session/compact", { body })) as { runId: string }
      const run = options.wait ? await ended(() => client.call("GET", `/api/runs/${runId}`)) : undefined
      if (run?.state === "dead") {
        throw new AppError("model-failed", `No summary was written: ${run.error ?? "the run failed"}`, {
          hint: `Nothing was changed; see: svc runs show ${runId}`,
        })
      }
      if (options.json)
        return context.output.json({ runId, ...(run ? { result: JSON.parse(run.result ?? "null") } : {}) })
      if (!run) return context.output.line(context.output.named(`run ${runId} sums it up; see: svc runs show ${runId}`))
      const { text } = JSON.parse(run.result ?? "{}") as { text?: string }
      context.output.line(printableLine(text ?? run.state))
    })
  addExamples(command, `svc sessions compact ${main} --instructions "keep all prices"`)
}

/** The run has a time limit of its own. */
async function ended(read: () => Promise<unknown>): Promise<RunDetail> {
  for (;;) {
    const run = (await read()) as RunDetail
    if (run.state !== "ready" && run.state !== "running") return run
    await new Promise((resolve) => setTimeout(resolve, lookAgainMs))
  }
}

function addDelete(sessions: Command, context: CliContext): void {
  const command = sessions
    .command("delete")
    .description("Remove a session with all of its conversations; what it has cost stays in the ledger")
    .argument("<key>", "key as in the list")
  addGatewayOptions(command)
    .option("--yes", "really: it cannot be taken back")
    .action(async (key: string, options: GatewayOptions & { yes?: true }) => {
      if (!options.yes) {
        throw new AppError("bad-request", `Deleting ${key} cannot be taken back`, {
          hint: `Keep it first with: svc sessions export ${key} --conversation all --out <file>; then add --yes`,
        })
      }
      const answer = await connectGateway(context, options).call("POST", "/api/session/delete", { body: { key } })
      if (options.json) return context.output.json(answer)
      const { conversations } = answer as { conversations: number }
      context.output.line(`deleted ${key}: ${conversations} ${conversations === 1 ? "conversation" : "conversations"}`)
    })
  addExamples(command, "svc sessions delete agent:main:hook:orders --yes")
}

function readTimestamp(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new AppError("bad-request", `--before must be a time in milliseconds since the epoch, not "${text}"`)
}
