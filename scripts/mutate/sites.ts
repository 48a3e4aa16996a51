// Where a source can be changed so that a test should notice. Types are blanked by Node's own stripping, which keeps
// every place, so a plain JavaScript parser finds what is there and the change is made in the TypeScript text.
import { stripTypeScriptTypes } from "node:module"
import { type AnyNode, type BinaryExpression, type Literal, type LogicalExpression, parse } from "acorn"
import { ancestor } from "acorn-walk"

export interface Mutation {
  file: string
  /** Of the text that is replaced, in characters. */
  start: number
  end: number
  replacement: string
  /** `<= becomes <`, for a person. */
  what: string
  line: number
}

type Found = Omit<Mutation, "file" | "line">

const swapped: Readonly<Record<string, string>> = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "+": "-",
  "-": "+",
  "*": "/",
  "&&": "||",
  "||": "&&",
}

/** Calls whose words are for people: no test should hang on them, nor on whether and with what they are made. */
const talk = /^(?:this\.)?[#\w.]*\b(?:log|console)\.(?:trace|debug|info|warn|error|log)$/

export function findMutations(file: string, source: string): Mutation[] {
  const plain = stripTypeScriptTypes(source, { mode: "strip" })
  const program = parse(plain, { ecmaVersion: "latest", sourceType: "module" })
  const found: Found[] = []
  const talks: { start: number; end: number }[] = []
  ancestor(program, {
    BinaryExpression: (node) => pushAll(found, operator(plain, node as BinaryExpression)),
    LogicalExpression: (node) => pushAll(found, logical(plain, node as LogicalExpression)),
    UnaryExpression(node) {
      const { operator: sign, start } = node as AnyNode & { type: "UnaryExpression" }
      // Brackets around what follows stay.
      if (sign === "!") found.push({ start, end: start + 1, replacement: "", what: "! is gone" })
    },
    IfStatement(node) {
      const { test, consequent } = node as AnyNode & { type: "IfStatement" }
      if (isTalk(plain, consequent)) return void talks.push(test)
      for (const value of ["true", "false"])
        found.push({ start: test.start, end: test.end, replacement: value, what: `the condition is ${value}` })
    },
    ConditionalExpression(node) {
      const { test } = node as AnyNode & { type: "ConditionalExpression" }
      for (const value of ["true", "false"])
        found.push({ start: test.start, end: test.end, replacement: value, what: `the choice is ${value}` })
    },
    Literal: (node, _state, parents) => pushAll(found, literal(node as Literal, parents as AnyNode[])),
    CallExpression(node) {
      const { callee } = node as AnyNode & { type: "CallExpression" }
      if (talk.test(plain.slice(callee.start, callee.end).replace(/\s+/g, ""))) talks.push(node)
    },
    ExpressionStatement: (node) => pushAll(found, removedCall(plain, node as AnyNode)),
    ReturnStatement(node) {
      const { argument } = node as AnyNode & { type: "ReturnStatement" }
      if (argument && !/^undefined$/.test(plain.slice(argument.start, argument.end)))
        found.push({
          start: argument.start,
          end: argument.end,
          replacement: "undefined as never",
          what: "returns nothing",
        })
    },
  })
  const lines = lineStarts(source)
  return found
    .filter((each) => !talks.some(({ start, end }) => start <= each.start && each.end <= end))
    .toSorted((a, b) => a.start - b.start || a.replacement.localeCompare(b.replacement))
    .map((each) => ({ file, ...each, line: lines.findLastIndex((from) => from <= each.start) + 1 }))
}

export function apply(source: string, { start, end, replacement }: Mutation): string {
  return source.slice(0, start) + replacement + source.slice(end)
}

function pushAll(found: Found[], more: Found | undefined): void {
  if (more) found.push(more)
}

function operator(text: string, { left, right, operator: sign }: BinaryExpression): Found | undefined {
  const other = swapped[sign]
  if (other === undefined) return undefined
  // Joined texts are no sums.
  if (sign === "+" && /["'`]/.test(text.slice(left.start, left.end) + text.slice(right.start, right.end)))
    return undefined
  return between(text, left.end, right.start, sign, other)
}

function logical(text: string, { left, right, operator: sign }: LogicalExpression): Found | undefined {
  if (sign === "??")
    return { start: right.start, end: right.end, replacement: "undefined", what: "the value after ?? is gone" }
  return between(text, left.end, right.start, sign, swapped[sign] ?? sign)
}

function between(text: string, from: number, to: number, sign: string, other: string): Found | undefined {
  const at = text.indexOf(sign, from)
  if (at < 0 || at >= to) return undefined
  return { start: at, end: at + sign.length, replacement: other, what: `${sign} becomes ${other}` }
}

function literal(node: Literal, parents: AnyNode[]): Found | undefined {
  const { start, end, value } = node
  const parent = parents.at(-2)
  // Numbers inside words for people.
  if (parents.some(({ type }) => type === "TemplateLiteral")) return undefined
  // Limits and times that a module names: the number is a choice, that it counts is seen where it is compared.
  if (typeof value === "number" && isChoice(parents)) return undefined
  if (typeof value === "boolean") return { start, end, replacement: String(!value), what: `${value} becomes ${!value}` }
  if (typeof value === "number" && Number.isSafeInteger(value))
    return { start, end, replacement: String(value + 1), what: `${value} becomes ${value + 1}` }
  if (typeof value !== "string" || value === "" || parent === undefined) return undefined
  // Names of modules, keys and words for people are not what behaviour hangs on; compared words are.
  const isCompared = parent.type === "BinaryExpression" || parent.type === "SwitchCase"
  return isCompared
    ? { start, end, replacement: '"\\u0000"', what: `${JSON.stringify(value)} becomes another word` }
    : undefined
}

function isChoice([, outer, inner]: AnyNode[]): boolean {
  const declaration = outer?.type === "ExportNamedDeclaration" ? inner : outer
  return declaration?.type === "VariableDeclaration" && declaration.kind === "const"
}

function removedCall(text: string, node: AnyNode): Found | undefined {
  const { expression } = node as AnyNode & { type: "ExpressionStatement" }
  const call = expression.type === "AwaitExpression" ? expression.argument : expression
  if (call.type !== "CallExpression") return undefined
  const callee = text.slice(call.callee.start, call.callee.end).replace(/\s+/g, "")
  if (talk.test(callee) || callee === "super") return undefined
  const { start, end } = node
  return { start, end, replacement: ";", what: `${callee}(...) is not called` }
}

/** A log line by itself, or in a block of its own. */
function isTalk(text: string, node: AnyNode): boolean {
  const [only, ...more] = node.type === "BlockStatement" ? node.body : [node]
  if (more.length > 0 || only?.type !== "ExpressionStatement" || only.expression.type !== "CallExpression") return false
  const { callee } = only.expression
  return talk.test(text.slice(callee.start, callee.end).replace(/\s+/g, ""))
}

function lineStarts(text: string): number[] {
  return [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
}
