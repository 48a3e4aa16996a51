// Text of which some words are the operator's and some came with a payload: the operator's stand as they are, each
// value is marked where it stands. What is whose was decided where the text was made; nothing is looked for in it here.
import type { Ids } from "../../kernel/index.ts"
import { neutralize, wrapUntrusted } from "../boundary.ts"

export interface PromptSegment {
  /** `value`: words of others. */
  kind: "operator" | "value"
  text: string
}

/** A title, a name or an address fits; what is longer is easier to read as a block. */
const maxInlineCharacters = 120

/** Brackets that could pass for the mark's own. */
const markLike = /[⟦⟧〚〛⟬⟭⦋⦌⦍⦎⦏⦐⁅⁆〖〗【】［］〔〕❲❳⦗⦘]|\[\[|\]\]/g
/** What is not seen, breaks the line, or changes the character before it. */
const unplain = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|^\p{M}/u

/** A value inside its line. */
export function mark(value: string): string {
  return `⟦${value}⟧`
}

/** Whether a text that holds nothing typed has values in it. */
export function hasMark(text: string): boolean {
  return text.includes("⟦")
}

/** A name or a title has fewer; what is longer is cut. */
const maxLineCharacters = 300
const unseen = /[\p{C}\p{Default_Ignorable_Code_Point}]/gu
const breaks = /[\p{Cc}\p{Zl}\p{Zp}]/gu

/** Foreign words of any shape as a value inside a line of ours: short, in one line, with nothing that could end it. */
export function markLine(text: string): string {
  const short = text.length > maxLineCharacters ? `${text.slice(0, maxLineCharacters)}…` : text
  const line = short.replace(breaks, " ").replace(unseen, "").replace(markLike, "|").trim()
  return mark(neutralize(line).replace(/^\p{M}+/u, ""))
}

/** Whether a value can stand in a line as it is: one short line that can be taken for nothing but a value. */
function isInline(value: string): boolean {
  if (value.length > maxInlineCharacters) return false
  return !unplain.test(value) && value.search(markLike) < 0 && neutralize(value) === value
}

/** `indent` stands in front of every further line of the operator's words. */
export function renderSegments(
  ids: Ids,
  segments: readonly PromptSegment[],
  { source, indent = "" }: { source: string; indent?: string },
): string {
  const pieces: string[] = []
  let isBehindBlock = false
  for (const { kind, text } of segments) {
    if (text === "") continue
    const isBlock = kind === "value" && text.trim() !== "" && !isInline(text)
    if (isBlock) {
      startLine(pieces)
      pieces.push(wrapUntrusted(ids, { source, text }))
    } else {
      const words = kind === "operator" ? indented(text, indent) : text.trim() === "" ? " " : mark(text)
      if (isBehindBlock && !words.startsWith("\n")) pieces.push(`\n${indent}`)
      pieces.push(words)
    }
    isBehindBlock = isBlock
  }
  return pieces.join("")
}

function startLine(pieces: string[]): void {
  const last = pieces.pop()
  if (last === undefined) return
  let end = last.length
  while (last[end - 1] === " ") end -= 1
  pieces.push(last.slice(0, end))
  if (last[end - 1] !== "\n") pieces.push("\n")
}

const newlines = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g

/** Every further line begins with the indent, so that none can pass for a line of another kind. */
export function indented(text: string, indent: string): string {
  return indent === "" ? text : text.replace(newlines, `\n${indent}`)
}
