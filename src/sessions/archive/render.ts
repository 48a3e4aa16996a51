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
  // Words of others are quoted line by line, so that none of theirs can pass for a message of somebody else.
  const body = trusted ? bodyOf(message) : quoted(bodyOf(message))
  return `\n## ${who}\n\n*${new Date(at).toISOString()}${whose}*\n\n${body}\n`
}

function quoted(text: string): string {
  return `> ${text.replace(/\r\n?|\n/g, "\n> ")}`
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
  let longest = 2
  for (let at = text.indexOf("`"); at >= 0; at = text.indexOf("`", at)) {
    const from = at
    while (text[at] === "`") at += 1
    longest = Math.max(longest, at - from)
  }
  const fence = "`".repeat(longest + 1)
  return `${fence}\n${text}\n${fence}`
}
