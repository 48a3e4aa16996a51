// Changes one key in the text of a configuration file and leaves every other character alone: comments, order,
// quotes, indentation and placeholders stay as the person wrote them.
import type { ArrayNode, MemberNode, ObjectNode, ValueNode } from "@humanwhocodes/momoa"
import { AppError } from "../kernel/errors.ts"
import type { Json } from "../kernel/json.ts"
import { memberName, rangeOf } from "./document.ts"
import type { ConfigDocument } from "./document.ts"
import { lineIndent, nextSignificant, printJson, styleOf, unitIndent } from "./text-style.ts"
import type { TextStyle } from "./text-style.ts"

/** The text with `node` (a value of this document) replaced. */
export function replaceValue(document: ConfigDocument, node: ValueNode, value: Json): string {
  const { start, end } = rangeOf(node)
  const printed = printJson(value, styleOf(document), lineIndent(document.text, start))
  return splice(document.text, start, end, printed)
}

/** The text with a member of `object` under another name; undefined when there is none of this name. */
export function renameMember(
  document: ConfigDocument,
  object: ObjectNode,
  name: string,
  to: string,
): string | undefined {
  const member = object.members.find((each) => memberName(each) === name)
  if (!member) return undefined
  const { start, end } = rangeOf(member.name)
  return splice(document.text, start, end, styleOf(document, object).printKey(to))
}

/** The text with a new member at the end of `object`. */
export function addMember(document: ConfigDocument, object: ObjectNode, name: string, value: Json): string {
  const style = styleOf(document, object)
  const print = (indent: string) => `${style.printKey(name)}: ${printJson(value, style, indent)}`
  return append(document, object, object.members.at(-1), style, print)
}

export function addElement(document: ConfigDocument, array: ArrayNode, value: Json): string {
  const style = styleOf(document)
  return append(document, array, array.elements.at(-1)?.value, style, (indent) => printJson(value, style, indent))
}

/** The text without a member of `object`; undefined when there is none of this name. */
export function removeMember(document: ConfigDocument, object: ObjectNode, name: string): string | undefined {
  const index = object.members.findIndex((member) => memberName(member) === name)
  return index === -1 ? undefined : removeItem(document, object, object.members, index)
}

export function removeElement(document: ConfigDocument, array: ArrayNode, index: number): string | undefined {
  const elements = array.elements.map((element) => element.value)
  return elements[index] === undefined ? undefined : removeItem(document, array, elements, index)
}

/** Whether nothing at all stands between the brackets, no comment either. */
export function isBlank(document: ConfigDocument, object: ObjectNode): boolean {
  const { start, end } = rangeOf(object)
  return object.members.length === 0 && document.text.slice(start + 1, end - 1).trim() === ""
}

type Item = MemberNode | ValueNode

function append(
  document: ConfigDocument,
  container: ObjectNode | ArrayNode,
  last: Item | undefined,
  style: TextStyle,
  print: (indent: string) => string,
): string {
  const { text } = document
  const { start, end } = rangeOf(container)
  const outer = lineIndent(text, start)
  if (!last) {
    const inner = outer + unitIndent(text)
    const content = text.slice(start + 1, end - 1).trimEnd()
    return splice(text, start + 1, end - 1, `${content}${style.newline}${inner}${print(inner)}${style.newline}${outer}`)
  }
  const lastRange = rangeOf(last)
  const next = nextSignificant(text, lastRange.end)
  const hasComma = text[next] === ","
  if (lineStart(text, lastRange.start) === lineStart(text, start)) {
    // All in one line: `{ a: 1 }` becomes `{ a: 1, b: 2 }`.
    const at = hasComma ? next + 1 : lastRange.end
    return splice(text, at, at, `${hasComma ? "" : ","} ${print(outer)}${hasComma ? "," : ""}`)
  }
  const inner = lineIndent(text, lastRange.start)
  const after = hasComma ? next + 1 : lastRange.end
  const line = endOfOwnLine(text, after, end - 1)
  const added = `${style.newline}${inner}${print(inner)}${hasComma ? "," : ""}`
  const withMember = splice(text, line, line, added)
  return hasComma ? withMember : splice(withMember, lastRange.end, lastRange.end, ",")
}

/** End of the line after an item, behind a comment that belongs to it; or `after`, if other things follow in the line. */
function endOfOwnLine(text: string, after: number, limit: number): number {
  const newline = text.indexOf("\n", after)
  const end = newline === -1 || newline > limit ? limit : newline
  const rest = text.slice(after, end)
  if (!/^\s*(\/\/.*|\/\*.*\*\/\s*)?$/.test(rest)) return after
  return after + rest.trimEnd().length
}

function removeItem(
  document: ConfigDocument,
  container: ObjectNode | ArrayNode,
  items: readonly Item[],
  index: number,
): string {
  const { text } = document
  const item = items[index]
  if (!item) throw new AppError("internal", "An item to be removed is not there")
  const own = rangeOf(item)
  const limit = rangeOf(container).end - 1
  const next = nextSignificant(text, own.end)
  const hasComma = text[next] === ","
  let start = own.start
  let end = hasComma ? next + 1 : own.end
  if (text.slice(lineStart(text, start), start).trim() === "") {
    const line = endOfOwnLine(text, end, limit)
    if (line !== end || /^\r?\n/.test(text.slice(end))) {
      // The item has its lines to itself: they go as a whole, with the comment at their end.
      start = lineStart(text, start)
      end = text.indexOf("\n", line) === -1 ? line : text.indexOf("\n", line) + 1
    }
  } else if (hasComma) end += /^ */.exec(text.slice(end))?.[0].length ?? 0
  else while (text[start - 1] === " ") start -= 1
  const before = items[index - 1]
  const removed = splice(text, start, Math.min(end, limit), "")
  if (hasComma || !before || index !== items.length - 1) return removed
  // The last item had no comma after it, so the one before must not have one now.
  const comma = nextSignificant(text, rangeOf(before).end)
  return text[comma] === "," ? splice(removed, comma, comma + 1, "") : removed
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1
}

function splice(text: string, start: number, end: number, replacement: string): string {
  return text.slice(0, start) + replacement + text.slice(end)
}
