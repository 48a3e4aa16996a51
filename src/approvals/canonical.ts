// One action, one text: the same whatever order its fields came in, so that what was allowed is found by its digest.
import { createHash } from "node:crypto"
import { type Json, isJsonObject } from "../kernel/index.ts"

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

/** What is not seen, or changes the direction of what is: an owner must read what is there. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu

/** The whole of an action as an owner reads it: nothing cut, nothing hidden, in a block that it cannot close. */
export function describeAction(summary: string, action: Json): string {
  const lines = JSON.stringify(sorted(action), null, 2)
    .split("\n")
    .map((line) => line.replace(unseen, escaped))
  const fence = "`".repeat(Math.max(3, longestRun(lines) + 1))
  return [summary.replace(unseen, escaped), "", fence, ...lines, fence].join("\n")
}

function escaped(character: string): string {
  return [...character].map((each) => `\\u{${(each.codePointAt(0) as number).toString(16)}}`).join("")
}

function longestRun(lines: readonly string[]): number {
  let longest = 0
  for (const line of lines) {
    let run = 0
    for (const character of line) {
      run = character === "`" ? run + 1 : 0
      longest = Math.max(longest, run)
    }
  }
  return longest
}
