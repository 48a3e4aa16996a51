// What is known of a model: provider, address and id -> figures of the generated table. Exact names come first, then the
// start of the name with figures that are safe for all of a family. What is not known is undefined; nothing is guessed.
import { editDistance } from "../../config/index.ts"
import type { ModelPrices, PresetName } from "../config.ts"
import type { ProviderSettings } from "../view.ts"
import type { FamilyRow, KnownModel, ModelRow, ModelSection, ThinkingWord } from "./contract.ts"
import { familySpelling, namesOf } from "./names.ts"
import { families, sections } from "./table.ts"

export type { KnownModel } from "./contract.ts"

export type ProviderKind = ProviderSettings["kind"]

/**
 * Servers of one's own give a model the context that they were started with, whatever the model could take. Most give
 * this much or more when a person has set them up for long conversations; `contextTokens` says what it really is.
 */
export const localContextTokens = 32_768

export function isLocalServer(preset: PresetName | undefined, modelId: string): boolean {
  // Models that Ollama only passes on to its own service have their whole context.
  if (modelId.endsWith("-cloud") || modelId.endsWith(":cloud")) return false
  return preset === "ollama" || preset === "llama.cpp" || preset === "lmstudio"
}

interface Entry {
  row: ModelRow
  section: ModelSection
}

const bySeller = new Map(sections.map((section) => [section.seller, entriesOf(section)]))
const byName = new Map(sections.filter(({ hostOnly }) => !hostOnly).flatMap((section) => [...entriesOf(section)]))
const longestFirst = families
  .flatMap((row) => row[0].map((start) => ({ start: familySpelling(start), row })))
  .toSorted((one, other) => other.start.length - one.start.length)

/** Each call of a model asks several times, and the answer stays the same: the table is part of the program. */
const answers = new Map<string, KnownModel | undefined>()
/** A configuration names fewer; ids that people try out in chats must not fill the memory. */
const maxAnswers = 200
const longestKept = 200

/** Prices are given where the model's own provider is asked, at its own address, and nowhere else. */
export function findKnownModel(
  kind: ProviderKind,
  preset: PresetName | undefined,
  modelId: string,
  baseUrl?: string,
): KnownModel | undefined {
  if (modelId.length > longestKept) return lookUp(kind, preset, modelId, baseUrl)
  const key = JSON.stringify([kind, preset, modelId, baseUrl])
  if (answers.has(key)) return answers.get(key)
  const known = lookUp(kind, preset, modelId, baseUrl)
  if (answers.size >= maxAnswers) answers.clear()
  answers.set(key, known)
  return known
}

function lookUp(
  kind: ProviderKind,
  preset: PresetName | undefined,
  modelId: string,
  baseUrl?: string,
): KnownModel | undefined {
  const names = namesOf(modelId)
  const seller = sellerOf(kind, preset, baseUrl)
  const sold = seller === undefined ? undefined : firstOf(bySeller.get(seller), names.exact)
  if (sold) return { ...figuresOf(sold.row), prices: pricesOf(sold.row) }
  const known = firstOf(byName, names.exact) ?? (kind === "azure" ? deploymentOf(names.starts) : undefined)
  const row = known?.row ?? familyOf(names.starts)
  if (!row) return undefined
  const figures = figuresOf(row)
  const local = isLocalServer(preset, modelId)
  return {
    ...figures,
    contextTokens: local ? Math.min(figures.contextTokens, localContextTokens) : figures.contextTokens,
    maxOutputTokens: local || known?.section.open ? undefined : figures.maxOutputTokens,
    prices: undefined,
  }
}

/**
 * The model of this provider that was probably meant, where the id is none that is known. A new version of a model is no
 * slip: only names with the same numbers count.
 */
export function nearestKnownModel(
  kind: ProviderKind,
  preset: PresetName | undefined,
  modelId: string,
  baseUrl?: string,
): string | undefined {
  const { exact } = namesOf(modelId)
  const seller = sellerOf(kind, preset, baseUrl)
  const sold = seller === undefined ? undefined : bySeller.get(seller)
  if (!sold || firstOf(sold, exact) || firstOf(byName, exact)) return undefined
  const wanted = exact[0] ?? ""
  const near = [...sold.keys()]
    .filter((name) => digitsOf(name) === digitsOf(wanted))
    .map((name) => ({ name, distance: editDistance(wanted, name) }))
    .filter(({ name, distance }) => distance <= (name.length < 8 ? 1 : 2))
  return near.toSorted((one, other) => one.distance - other.distance)[0]?.name
}

/** The dearest price of input and of output that is known of a provider; undefined when none is. */
export function dearestPricesOf(
  kind: ProviderKind,
  preset: PresetName | undefined,
  baseUrl?: string,
): ModelPrices | undefined {
  const seller = sellerOf(kind, preset, baseUrl)
  return seller === undefined ? undefined : dearestBySeller.get(seller)
}

const dearestBySeller = new Map(
  [...new Set(sections.map(({ seller }) => seller))].map((seller) => [
    seller,
    dearestOf(sections.filter((section) => section.seller === seller).flatMap(({ rows }) => rows)),
  ]),
)
const dearestOfAll = dearestOf(sections.flatMap(({ rows }) => rows)) ?? { input: 0, output: 0 }

/** The same of all providers together. */
export function dearestPrices(): ModelPrices {
  return dearestOfAll
}

function dearestOf(rows: readonly ModelRow[]): ModelPrices | undefined {
  const prices = rows.map(pricesOf).filter((each) => each !== undefined)
  if (prices.length === 0) return undefined
  return {
    input: Math.max(...prices.map(({ input, cacheWrite }) => Math.max(input, cacheWrite ?? 0))),
    output: Math.max(...prices.map(({ output }) => output)),
  }
}

function digitsOf(name: string): string {
  return name.replaceAll(/\D/g, "")
}

function entriesOf(section: ModelSection): Map<string, Entry> {
  const entries = section.rows.map((row): [string, Entry] => [row[0].toLowerCase(), { row, section }])
  // magistral-medium means magistral-medium-latest; a name that stands in the table itself is stronger.
  const shortened = entries.flatMap(([name, entry]): [string, Entry][] =>
    name.endsWith("-latest") ? [[name.slice(0, -"-latest".length), entry]] : [],
  )
  return new Map([...shortened, ...entries])
}

function sellerOf(kind: ProviderKind, preset: PresetName | undefined, baseUrl: string | undefined): string | undefined {
  if (baseUrl === undefined) return preset ?? kind
  // Subscriptions for coding tools have addresses of their own below the same host, and no price by the token.
  const { hostname, pathname } = new URL(baseUrl)
  if (pathname.includes("/coding")) return undefined
  return sections.find(({ hosts }) => hosts.includes(hostname))?.seller
}

function firstOf(entries: ReadonlyMap<string, Entry> | undefined, names: readonly string[]): Entry | undefined {
  return names.map((name) => entries?.get(name)).find((entry) => entry !== undefined)
}

/** Deployments are named by people, most after the model: gpt-4o-mini-europe. */
function deploymentOf(starts: readonly string[]): Entry | undefined {
  const found = [...(bySeller.get("openai") ?? [])].filter(([name]) =>
    starts.some((start) => beginsWith(start, familySpelling(name))),
  )
  return found.toSorted(([one], [other]) => other.length - one.length)[0]?.[1]
}

function familyOf(starts: readonly string[]): FamilyRow | undefined {
  return longestFirst.find(({ start }) => starts.some((name) => beginsWith(name, start)))?.row
}

/** The start ends where a word or a number ends: gpt-4 begins gpt-4-0613, but not gpt-4o; mistral begins mistral7b. */
function beginsWith(name: string, start: string): boolean {
  if (!name.startsWith(start)) return false
  return !(/[a-z]$/.test(start) ? /[a-z]/ : /[a-z0-9]/).test(name.charAt(start.length))
}

function figuresOf(row: ModelRow | FamilyRow): Omit<KnownModel, "prices"> {
  const [, contextTokens, maxOutputTokens, vision, word] = row
  return { contextTokens, maxOutputTokens: maxOutputTokens ?? undefined, vision, ...thinkingWords[word] }
}

function pricesOf([, , , , , input, output, cacheRead, cacheWrite]: ModelRow): ModelPrices | undefined {
  if (input === undefined || output === undefined) return undefined
  return {
    input,
    output,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  }
}

const thinkingWords: Record<ThinkingWord, Pick<KnownModel, "reasoning" | "canBeOff">> = {
  none: { reasoning: [], canBeOff: true },
  always: { reasoning: [], canBeOff: false },
  unknown: { reasoning: undefined, canBeOff: undefined },
  "off-high": { reasoning: ["minimal", "low", "medium", "high"], canBeOff: true },
  "minimal-high": { reasoning: ["minimal", "low", "medium", "high"], canBeOff: false },
  "low-high": { reasoning: ["low", "medium", "high"], canBeOff: false },
  "medium-high": { reasoning: ["medium", "high"], canBeOff: false },
  medium: { reasoning: ["medium"], canBeOff: false },
  high: { reasoning: ["high"], canBeOff: false },
  "low,high": { reasoning: ["low", "high"], canBeOff: false },
  "off,low-high": { reasoning: ["low", "medium", "high"], canBeOff: true },
  "off,low,high": { reasoning: ["low", "high"], canBeOff: true },
  "off,high": { reasoning: ["high"], canBeOff: true },
}
