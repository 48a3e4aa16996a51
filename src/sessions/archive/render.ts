// A transcript as people take it elsewhere: a line of JSON a message, or Markdown to read. Imports types alone, because the
// command line shows the same.
import type { ModelMessage } from "../../models/contract.ts"
import type { TranscriptMessage } from "./contract.ts"

export type ExportFormat = "jsonl" | "markdown"

export function renderHead(format: ExportFormat, key: string): string {
  return format === "jsonl" ? "" : `# Session ${key}\n`
}

/** One message; what it begins with parts it from the one before. */
export function renderMessage(format: ExportFormat, entry: TranscriptMessage): string {
  if (format === "jsonl") return `${JSON.stringify(entry)}\n`
  const { at, message, isSummary, trusted, origin } = entry
  const who = isSummary ? "Summary of what is above" : names[message.role]
  const whose = trusted ? "" : `, with words of others (${origin})`
  return `\n## ${who}\n\n*${new Date(at).toISOString()}${whose}*\n\n${bodyOf(message)}\n`
}

const names: Record<ModelMessage["role"], string> = { user: "User", assistant: "Agent", tool: "Results of tools" }

/** What a message says, in words. */
export function textOfMessage(message: ModelMessage): string {
  if (message.role === "assistant") return message.text
  const content = message.role === "user" ? message.content : message.results.flatMap((result) => result.content)
  return content.map((part) => (part.type === "text" ? part.text : "(a picture)")).join("\n")
}

function bodyOf(message: ModelMessage): string {
  if (message.role === "user") return textOfMessage(message)
  if (message.role === "assistant") {
    const calls = message.toolCalls.map(({ name, input }) => fenced(`${name} ${JSON.stringify(input, null, 2)}`))
    return [message.text, ...calls].filter((text) => text !== "").join("\n\n")
  }
  return message.results
    .map(({ toolName, content, isError }) => {
      const text = content.map((part) => (part.type === "text" ? part.text : "(a picture)")).join("\n")
      return `**${toolName}**${isError ? " (failed)" : ""}\n\n${fenced(text)}`
    })
    .join("\n\n")
}

/** With a fence that is longer than any in the text. */
function fenced(text: string): string {
  // One by one: arguments of a call are a stack's worth at most, and a page may have written more marks than that.
  let longest = 2
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const fence = "`".repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
