// `svc memory`: what agents remember: notes in their workspaces, and everything that was said.
import { type Command, Option } from "commander"
import { AppError } from "../../src/kernel/errors.ts"
import type { Note, NoteHit, NoteSummary, WrittenNote } from "../../src/memory/contract.ts"
import type { SearchHit } from "../../src/sessions/archive/contract.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { type GatewayOptions, addExamples, addGatewayOptions, wholeNumber } from "../options.ts"
import { formatTable } from "../table.ts"
import { printable, printableLine } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

export function addMemory(program: Command, context: CliContext): void {
  const memory = program.command("memory").description("Look for what was said and noted, and read and write notes")
  addSearch(memory, context)
  addList(memory, context)
  addShow(memory, context)
  addAdd(memory, context)
  addExamples(memory, "svc memory search ferry to Lviv", "svc memory show MEMORY.md", 'svc memory add "Ada likes tea."')
}

type AgentOptions = GatewayOptions & { agent?: string }

function withAgent(command: Command): Command {
  return addGatewayOptions(command).option("--agent <id>", "whose (default: the default agent)")
}

function addSearch(memory: Command, context: CliContext): void {
  const search = memory
    .command("search")
    .description("Find notes and messages, best first")
    .argument("<text...>", "words, or parts of words; the rarest of them decide")
  withAgent(search)
    .addOption(new Option("--scope <scope>", "where").choices(["all", "notes", "sessions"]).default("all"))
    .option("--session <key>", "only in this session")
    .option("--limit <n>", "how many of each kind", wholeNumber("--limit", 1, 100), 20)
    .action(async (words: string[], options: AgentOptions & { scope: string; session?: string; limit: number }) => {
      const { agent, scope, session, limit } = options
      const query = { text: words.join(" "), agent, scope, session, limit }
      const answer = await connectGateway(context, options).call("GET", "/api/memory/search", { query })
      if (options.json) return context.output.json(answer)
      const notes = readItems<NoteHit>(answer, "notes")
      const messages = readItems<SearchHit>(answer, "messages")
      if (notes.length + messages.length === 0) return context.output.line("nothing found")
      for (const hit of notes) context.output.write(describeNote(hit))
      for (const hit of messages) context.output.write(describeMessage(hit))
    })
  addExamples(search, "svc memory search invoice 2026", "svc memory search allergies --scope notes")
}

function describeNote({ name, heading, text }: NoteHit): string {
  const place = heading === "" ? name : `${name}, ${heading}`
  return `${printableLine(place)}\n${printable(text).replace(/^/gm, "  ")}\n`
}

function describeMessage({ id, key, at, role, excerpt, trusted, origin }: SearchHit): string {
  const whose = trusted ? "" : `, words of others (${origin})`
  const place = key === "" ? "an older conversation" : key
  return `${printableLine(`${describeTime(at)} ${place} ${role} ${id}${whose}`)}\n  ${printableLine(excerpt)}\n`
}

function addList(memory: Command, context: CliContext): void {
  const list = memory.command("list", { isDefault: true }).description("List notes with their sections")
  withAgent(list).action(async (options: AgentOptions) => {
    const query = { agent: options.agent }
    const answer = await connectGateway(context, options).call("GET", "/api/memory/notes", { query })
    if (options.json) return context.output.json(answer)
    const notes = readItems<NoteSummary>(answer, "notes")
    if (notes.length === 0)
      return context.output.line(context.output.named('no notes yet; write the first: svc memory add "..."'))
    const rows = notes.map(({ name, bytes, modifiedAt, sections }) => [
      name,
      String(bytes),
      describeTime(modifiedAt),
      sections.join(", "),
    ])
    context.output.write(formatTable(["Note", "Bytes", "Changed", "Sections"], rows))
  })
  addExamples(list, "svc memory list --agent work")
}

function addShow(memory: Command, context: CliContext): void {
  const show = memory
    .command("show")
    .description("Print one note")
    .argument("[name]", "such as notes/travel", "MEMORY.md")
  withAgent(show).action(async (name: string, options: AgentOptions) => {
    const query = { agent: options.agent, name }
    const note = (await connectGateway(context, options).call("GET", "/api/memory/note", { query })) as Note
    if (note.version === null) {
      throw new AppError("not-found", `There is no note ${note.name}`, { hint: "Notes stand in: svc memory list" })
    }
    if (options.json) return context.output.json(note)
    context.output.write(printable(note.text.endsWith("\n") ? note.text : `${note.text}\n`))
  })
  addExamples(show, "svc memory show notes/travel")
}

function addAdd(memory: Command, context: CliContext): void {
  const add = memory
    .command("add")
    .description("Write something into a note, as the agent does")
    .argument("<text...>", "what is to last")
  withAgent(add)
    .option("--to <name>", "note", "MEMORY.md")
    .option("--section <heading>", "under this heading")
    .option("--replace", "in place of all that the section says")
    // An item of a list begins as options do.
    .allowUnknownOption()
    .action(async (words: string[], options: AgentOptions & { to: string; section?: string; replace?: true }) => {
      const { agent, to, section, replace } = options
      const option = words.find((word) => /^--?[a-z]/i.test(word))
      if (option !== undefined)
        throw new AppError("bad-request", `unknown option '${option}'`, { hint: "see: svc memory add --help" })
      const body = {
        name: to,
        text: words.join(" "),
        mode: replace ? "replace" : "append",
        ...(agent === undefined ? {} : { agent }),
        ...(section === undefined ? {} : { section }),
      }
      const answer = await connectGateway(context, options).call("POST", "/api/memory/add", { body })
      if (options.json) return context.output.json(answer)
      const { name, change } = answer as unknown as WrittenNote
      context.output.line(change === "same" ? `${name} says so already` : `written to ${name}`)
    })
  addExamples(add, 'svc memory add "- The ferry goes at 9." --to notes/travel --section Ferries')
}
