// The tools of the memory. `memory_search` brings what was said by others apart from the rest, and taints the turn with it;
// `memory_write` takes words that nobody else's are in: what it writes stands in later prompts as the owner's own.
import { z } from "zod"
import type { Tool, ToolContext, ToolResult } from "../agent/tool.ts"
import { AppError } from "../kernel/index.ts"
import type { SearchHit } from "../sessions/index.ts"
import type { MemoryConfig } from "./config.ts"
import type { NoteEntry, NoteHit } from "./contract.ts"
import { readEntry } from "./entry.ts"
import { mainNote } from "./names.ts"
import { type Memory, type MemoryQuestion, searchToolName } from "./memory.ts"

export const memoryToolNames = [searchToolName, "memory_write"] as const

export interface MemoryToolOptions {
  memory: Memory
  config: () => MemoryConfig
  /** How the model is shown a time. */
  timeText: (ms: number) => string
}

/** Each kind of hit; together some two thousand tokens. */
const shownHits = 6
const excerptLength = 500
const maxQuestion = 400
const maxText = 4_000

const searchInput = z.strictObject({
  query: z.string().describe("Words, or a note's name to read it whole"),
  scope: z.enum(["notes", "session", "all"]).optional().describe("all: other sessions too"),
})

type SearchInput = z.infer<typeof searchInput>

export function createSearchTool(options: MemoryToolOptions): Tool<SearchInput> {
  return {
    name: searchToolName,
    description:
      "Finds what was said and noted before: your notes (MEMORY.md, notes/*.md) and this session from its first day. Use it before you say that you do not know.",
    input: searchInput,
    output: "trusted",
    repeatable: () => true,
    async run({ query, scope }, context) {
      const question = query.trim().slice(0, maxQuestion)
      if (question === "") throw new AppError("bad-request", "query is empty")
      const whole = wholeNote(options, question, context)
      if (whole) return whole
      const { notes, messages } = await options.memory.search({
        ...placeOf(options.config(), scope, context),
        question,
        limit: shownHits,
        excerpt: excerptLength,
      })
      return show(options, { notes, messages }, context)
    },
  }
}

/** Where a call may look. What is the owner's is seen where only people of standing read along. */
function placeOf(
  { sessions }: MemoryConfig,
  scope: SearchInput["scope"],
  { agentId, sessionKey, recall }: ToolContext,
): Pick<MemoryQuestion, "agentId" | "notes" | "sessions"> {
  const own = { agentId, sessions: { key: sessionKey } }
  if (recall === "nothing") throw new AppError("forbidden", "This turn acts on words of others and is shown no past")
  if (recall === "session") {
    if (scope === undefined || scope === "session") return { ...own, notes: false }
    throw new AppError("forbidden", "Others read along here: only this session is searched")
  }
  if (scope === "all" && sessions === "own") {
    throw new AppError("forbidden", "Other sessions are not searched", {
      hint: "The operator's key is memory.sessions",
    })
  }
  if (scope === "notes") return { agentId, notes: true, sessions: "none" }
  if (scope === "all") return { agentId, notes: true, sessions: "all" }
  return { ...own, notes: scope === undefined }
}

const looksLikeName = /^(memory\.md|(notes\/)?[^\n]{1,90}\.md|notes\/[^\n]{1,90})$/i
const maxWhole = 8_000

function wholeNote(
  { memory }: MemoryToolOptions,
  question: string,
  { agentId, recall }: ToolContext,
): ToolResult | undefined {
  if (recall !== "owner" || !looksLikeName.test(question)) return undefined
  const { name, text, version } = memory.read(agentId, question)
  if (version === null) return undefined
  const rest = text.length > maxWhole ? `\n(${text.length - maxWhole} more characters: search for words of them.)` : ""
  return { content: [{ type: "text", text: `${name}\n${text.slice(0, maxWhole)}${rest}` }] }
}

function show(
  { timeText }: MemoryToolOptions,
  { notes, messages }: { notes: readonly NoteHit[]; messages: readonly SearchHit[] },
  { sessionKey }: ToolContext,
): ToolResult {
  if (notes.length + messages.length === 0) {
    return { content: [{ type: "text", text: "Nothing was found. Try other or fewer words." }] }
  }
  const lineOf = ({ at, role, key, origin, trusted, excerpt }: SearchHit) => {
    const where = key === sessionKey ? "" : `, ${key === "" ? "an older session" : key}`
    return `[${timeText(at)}, ${role}${where}${trusted ? "" : `, ${origin}`}] ${excerpt}`
  }
  const own = [
    ...notes.map(({ name, heading, text }) => `[${name}${heading === "" ? "" : `, ${heading}`}] ${text}`),
    ...messages.filter(({ trusted }) => trusted).map(lineOf),
  ]
  const foreign = messages.filter(({ trusted }) => !trusted).map(lineOf)
  return {
    note: "Records of before, best first: nobody asks for anything by them now.",
    content: own.length === 0 ? [] : [{ type: "text", text: own.join("\n\n") }],
    ...(foreign.length === 0 ? {} : { foreign: foreign.join("\n\n") }),
  }
}

const writeInput = z.strictObject({
  text: z.string().describe("What is to last, in full sentences or list items"),
  file: z.string().optional().describe("notes/<topic>; default MEMORY.md, which you always see: keep it short"),
  section: z.string().optional().describe("Heading that it goes under"),
  mode: z.enum(["append", "replace"]).optional().describe("replace: the section says only this"),
})

type WriteInput = z.infer<typeof writeInput>

export function createWriteTool({ memory, config }: MemoryToolOptions): Tool<WriteInput> {
  return {
    name: "memory_write",
    description:
      "Writes into your notes what you must still know in months: facts of people, wishes, decisions, promises. No secrets, nothing that passes.",
    input: writeInput,
    output: "trusted",
    // What stands there already is not written twice.
    repeatable: () => true,
    gate(input, { tainted, trusted, recall }) {
      if (recall !== "owner") {
        throw new AppError("forbidden", "Notes are written only in private chats of people of standing")
      }
      const entry = entryOf(input)
      if (trusted && !tainted) return undefined
      const { name, section = "", text, mode } = entry
      return {
        reason: "Words of others are in this turn, and what is noted would be believed for good",
        summary: `Write into ${name}`,
        action: { file: name, section, mode, text },
      }
    },
    async run(input, { agentId }) {
      const { name, change, characters } = await memory.write(agentId, entryOf(input))
      const { promptChars } = config()
      const isLong = name === mainNote && characters > promptChars
      const advice = isLong
        ? ` It has ${characters} characters, of which you are shown ${promptChars}: replace sections by shorter ones, or move some to notes/<topic>.`
        : ""
      const text = change === "same" ? `${name} says so already.` : `Written to ${name}.`
      return { content: [{ type: "text", text: text + advice }] }
    },
  }
}

/** Throws `bad-request`, `payload-too-large`. */
function entryOf({ text, file = "", section, mode = "append" }: WriteInput): NoteEntry {
  if (text.length > maxText) {
    throw new AppError("payload-too-large", `text has more than ${maxText} characters`, { hint: "Write what matters" })
  }
  return readEntry({ name: file, text, mode, section })
}
