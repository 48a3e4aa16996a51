// One action, one text: the same whatever order its fields came in, so that what was allowed is found by its digest.
import { createHash } from "node:crypto"
import { type Json, isJsonObject } from "../kernel/index.ts"
import { escapeUnseen } from "./unseen.ts"

export function canonicalJson(value: Json): string {
  return JSON.stringify(sorted(value))
}

export function digestOf(tool: string, action: Json): string {
  return createHash("sha256").update(canonicalJson({ tool, action })).digest("base64url")
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isJsonObject(value)) return value
  const names = Object.keys(value).toSorted()
  return Object.fromEntries(names.map((name) => [name, sorted(value[name] as Json)]))
}

/** The whole of an action as an owner reads it: nothing cut, nothing hidden, in a block that it cannot close. */
export function describeAction(summary: string, action: Json): string {
  const text = escapeUnseen(JSON.stringify(sorted(action), null, 2), "kept")
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1))
  return [escapeUnseen(summary), "", fence, text, fence].join("\n")
}

/** What `describeAction` gave, for a chat: its first line may hold what a page or a server has named, and is no formatting. */
export function questionInMarkdown(text: string): string {
  const end = text.indexOf("\n")
  return text.slice(0, end).replace(/[\\`*_~|<>[\]]/g, "\\$&") + text.slice(end)
}

function longestRun(text: string): number {
  let longest = 0
  for (let at = text.indexOf("`"); at >= 0; at = text.indexOf("`", at)) {
    const from = at
    while (text[at] === "`") at += 1
    longest = Math.max(longest, at - from)
  }
  return longest
}
