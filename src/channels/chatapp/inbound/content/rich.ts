// The words of a message that is made of blocks. The platform adds kinds of blocks with every version: the words are
// looked for by the names that all of them use, so that a new kind loses its form and not its words.
import type { RichMessage } from "grammy/types"

/** Deeper than the platform nests them. */
const maxDepth = 40
const wordKeys = new Set(["text", "title", "caption", "summary", "expression", "credit", "label"])
const blockKeys = new Set(["blocks", "items", "cells", "rows"])

export function richText(message: RichMessage): string {
  return message.blocks
    .map((block) => wordsOf(block, 0))
    .filter(Boolean)
    .join("\n")
}

function wordsOf(value: unknown, depth: number): string {
  if (typeof value === "string") return value
  if (depth > maxDepth || typeof value !== "object" || value === null) return ""
  // An array is one text in several styles, or a list of blocks; the caller's key says which.
  if (Array.isArray(value)) return value.map((item) => wordsOf(item, depth + 1)).join("")
  const parts: string[] = []
  for (const [key, part] of Object.entries(value)) {
    if (wordKeys.has(key)) parts.push(wordsOf(part, depth + 1))
    else if (blockKeys.has(key) && Array.isArray(part)) {
      parts.push(...part.map((item) => wordsOf(item, depth + 1)))
    }
  }
  return parts.filter(Boolean).join("\n")
}
