// Models and checks of them as people read them in a terminal. Words of providers are made safe here.
import { formatCount, formatDollars, unknownAmount } from "../../src/budget/amounts.ts"
import type { ContextFact, ModelCheck } from "../../src/models/check/contract.ts"
import type { ModelRow } from "../../src/models/list.ts"
import { formatTable } from "../table.ts"
import { printableLine } from "../../src/kernel/terminal-text.ts"

const states = { ready: "ready", "key-missing": "no key", "not-configured": "not configured" } as const

export function describeModels(models: readonly ModelRow[]): string {
  const rows = models.map((row) => [
    row.id,
    [...row.marks, ...(row.alias === null ? [] : [`alias ${row.alias}`])].join(", "),
    states[row.state],
    contextText(row.context),
    row.state === "ready" ? formatCount(row.maxOutputTokens) : null,
    row.vision === null ? null : row.vision ? "yes" : "no",
    row.state === "ready" ? thinkingText(row.reasoning) : null,
    row.state === "ready" ? priceText(row.prices) : null,
  ])
  const headings = ["Model", "For", "State", "Context", "Longest reply", "Pictures", "Thinking", "In / out, 1M tokens"]
  const problems = models.filter(({ state, problem }) => state !== "ready" || problem !== null)
  const told = problems.map((row) => `${row.id}: ${[row.problem, row.hint].filter((part) => part !== null).join(". ")}`)
  const table = formatTable(headings, rows)
  return told.length === 0 ? table : `${table}\n${told.map((line) => `${printableLine(line)}\n`).join("")}`
}

/** A question mark behind what nobody has said. */
function contextText(context: ContextFact | null): string | null {
  if (context === null) return null
  return `${formatCount(context.tokens)}${context.from === "assumed" ? unknownAmount : ""}`
}

function thinkingText(levels: ModelRow["reasoning"]): string {
  if (levels === null) return unknownAmount
  return levels.length === 0 ? "no levels" : levels.join(", ")
}

function priceText(prices: ModelRow["prices"]): string {
  return prices === null ? unknownAmount : `${formatDollars(prices.input)} / ${formatDollars(prices.output)}`
}

export function describeCheck(check: ModelCheck): string {
  const { failure, advice } = check
  const lines = [
    `${check.model}: ${check.usable ? "works" : "does not work"}`,
    ...(failure === null ? [] : [`  problem    ${failure.message}`]),
    ...(failure === null || failure.hint === null ? [] : [`  next       ${failure.hint}`]),
    ...rowsOf(check).map(([name, value]) => `  ${name.padEnd(11)}${value}`),
    ...advice.map((words) => `  note       ${words}`),
  ]
  return lines.map((line) => `${printableLine(line)}\n`).join("")
}

const keys = {
  accepted: "accepted",
  refused: "refused",
  missing: "missing",
  "none-needed": "none set, none needed",
} as const
const tools = {
  called: "called",
  "not-called": "taken, but not called",
  refused: "refused",
} as const
const pictures = {
  seen: "seen right",
  wrong: "sent, but not seen right",
  refused: "refused",
  "not-sent": "none sent: the model is not known to take any",
} as const

function rowsOf(check: ModelCheck): [string, string][] {
  const { key, exists, reasoning, streaming, tokens, context } = check
  const rows: [string, string | null][] = [
    ["key", key === null ? "not known" : keys[key]],
    ["model", exists === null ? "not known" : exists ? "is there" : "is not there"],
    ["tools", check.tools === null ? "not known" : tools[check.tools]],
    ["pictures", check.pictures === null ? "not known" : pictures[check.pictures]],
    ["thinking", reasoning === null ? null : reasoningText(reasoning)],
    ["streaming", streaming === null ? null : streamingText(streaming)],
    ["time", tokens === null && check.durationMs === 0 ? null : durationText(check.durationMs)],
    ["tokens", tokens === null ? null : `${formatCount(tokens.input)} in, ${formatCount(tokens.output)} out`],
    ["cost", tokens === null ? null : check.cost === null ? "not known" : formatDollars(check.cost)],
    ["context", context === null ? null : contextWords(context)],
    ["reply", context === null ? null : replyText(check.maxOutputTokens)],
  ]
  return rows.filter((row): row is [string, string] => row[1] !== null)
}

function durationText(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`
}

function reasoningText({ tokens, characters }: NonNullable<ModelCheck["reasoning"]>): string {
  if (tokens !== null && tokens > 0) return `${formatCount(tokens)} tokens`
  return characters > 0 ? `${formatCount(characters)} characters` : "none seen"
}

function streamingText({ pieces, firstMs }: NonNullable<ModelCheck["streaming"]>): string {
  if (firstMs === null) return "nothing was written"
  return `${pieces === 1 ? "one piece" : `${formatCount(pieces)} pieces`}, the first after ${formatCount(firstMs)} ms`
}

const sources = {
  configuration: "as configured",
  server: "by the server's word",
  table: "known of the model",
  assumed: "assumed, nobody says",
} as const

function contextWords({ tokens, from }: ContextFact): string {
  return `${formatCount(tokens)} tokens (${sources[from]})`
}

function replyText(tokens: number | null): string {
  return tokens === null ? "how long at most is not known" : `${formatCount(tokens)} tokens at most`
}
