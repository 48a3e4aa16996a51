// One configuration file as text, syntax tree and positions. JSON5 in, nothing evaluated: who needs values asks the tree.
import { parse } from "@humanwhocodes/momoa"
import type { MemberNode, ValueNode } from "@humanwhocodes/momoa"
import type { Json } from "../kernel/json.ts"

export interface ConfigDocument {
  file: string
  /** Without a byte order mark, so that offsets are those of the syntax tree. */
  text: string
  root: ValueNode
}

/** What is wrong with a configuration, and where. `line` and `column` count from 1; 0 when there is no place in a file. */
export interface ConfigIssue {
  file: string
  line: number
  column: number
  /** Key as `parseConfigPath` reads it; empty for the file as a whole. */
  path: string
  message: string
  /** The value found, shortened; never that of a secret. */
  value?: string
}

export type ParsedDocument = { kind: "ok"; document: ConfigDocument } | { kind: "invalid"; issue: ConfigIssue }

export function parseDocument(file: string, rawText: string): ParsedDocument {
  const text = rawText.startsWith("\ufeff") ? rawText.slice(1) : rawText
  const invalid = (line: number, column: number, message: string): ParsedDocument => ({
    kind: "invalid",
    issue: { file, line, column, path: "", message },
  })
  if (text.trim() === "") return invalid(1, 1, "the file is empty; an empty configuration is written {}")
  try {
    const root = parse(text, { mode: "json5", ranges: true }).body
    if (root.type === "Object") return { kind: "ok", document: { file, text, root } }
    return invalid(root.loc.start.line, root.loc.start.column, "the file must contain one object: { ... }")
  } catch (error) {
    if (error instanceof RangeError) return invalid(1, 1, "the file is nested too deeply")
    const { line, column, offset, message } = error as Error & { line?: number; column?: number; offset?: number }
    if (line === undefined || column === undefined) throw error
    // The parser blames the last bracket or comma when nothing follows it.
    if (offset !== undefined && /^[{[,:]\s*$/.test(text.slice(offset))) return invalid(line, column, endsTooEarly)
    return invalid(line, column, `not valid JSON5: ${plainSyntaxMessage(message)}`)
  }
}

const endsTooEarly = "the file ends too early; a bracket or quote is not closed"

/** The parser's message without its position, in words. */
function plainSyntaxMessage(message: string): string {
  const names: Record<string, string> = {
    LBrace: "{",
    RBrace: "}",
    LBracket: "[",
    RBracket: "]",
    Comma: ",",
    Colon: ":",
  }
  return message
    .replace(/\(\d{1,9}:\d{1,9}\)\s{0,9}$/, "")
    .trimEnd()
    .replace(/\.$/, "")
    .replace(/Unexpected token (\w+) found/, (_, name: string) => `unexpected ${names[name] ?? name.toLowerCase()}`)
    .replace("Unexpected end of input found", endsTooEarly)
}

export function memberName(member: MemberNode): string {
  return member.name.type === "String" ? member.name.value : member.name.name
}

/** Start and end offsets in the text. */
export function rangeOf(node: {
  range?: readonly number[]
  loc: { start: { offset: number }; end: { offset: number } }
}) {
  return { start: node.range?.[0] ?? node.loc.start.offset, end: node.range?.[1] ?? node.loc.end.offset }
}

/** The value of a node without children. NaN and infinities stay numbers; the schema refuses them. */
export function scalarValue(node: ValueNode): Json {
  switch (node.type) {
    case "String":
    case "Number":
    case "Boolean":
      return node.value
    case "Null":
      return null
    case "NaN":
      return Number.NaN
    case "Infinity":
      return node.sign === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
    default:
      throw new TypeError(`A node of type ${node.type} has no scalar value`)
  }
}
