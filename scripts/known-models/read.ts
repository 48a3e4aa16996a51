// The checked-in figures of models, read and checked: *.json beside this file -> sections and families, in a fixed order.
import { readFileSync } from "node:fs"
import { z } from "zod"

const tokens = z.int().min(1)

const thinkingWord = z.enum([
  "none",
  "always",
  "unknown",
  "off-high",
  "minimal-high",
  "low-high",
  "medium-high",
  "medium",
  "high",
  "low,high",
  "off,low-high",
  "off,low,high",
  "off,high",
])

const figures = [tokens, tokens.nullable(), z.boolean(), thinkingWord] as const

/** Input, output, cache read, cache write; the last ones may be missing. */
const prices = z.array(z.number().min(0)).min(2).max(4)

const provenance = {
  /** When the figures were gathered. */
  day: z.iso.date(),
  /** Where each provider's figures come from, and of which day that is. */
  source: z.string().min(1),
}

const sectionFile = z.strictObject({
  seller: z.string().min(1),
  hosts: z.array(z.string()),
  hostOnly: z.boolean().default(false),
  open: z.boolean(),
  ...provenance,
  columns: z.array(z.unknown()),
  models: z.array(z.tuple([z.string().min(1), ...figures, prices.optional()])),
})

const familyFile = z.strictObject({
  ...provenance,
  columns: z.array(z.unknown()),
  families: z.array(z.tuple([z.array(z.string().min(1)).min(1), ...figures])),
})

export type SectionSource = z.infer<typeof sectionFile>
export type FamilySource = z.infer<typeof familyFile>

export interface KnownModelSources {
  sections: SectionSource[]
  families: FamilySource
}

/** The order of the table: makers of models, hosts of others' models, then models that have no provider of their own. */
const sellers = [
  "openai",
  "anthropic",
  "google",
  "xai",
  "deepseek",
  "mistral",
  "moonshot",
  "zai",
  "minimax",
  "groq",
  "cerebras",
  "open",
]

export function readKnownModels(): KnownModelSources {
  const sections = sellers.map((seller) => sectionFile.parse(readJson(seller)))
  const families = familyFile.parse(readJson("families"))
  for (const { seller, models } of sections) {
    checkUnique(
      seller,
      models.map(([id]) => id.toLowerCase()),
    )
  }
  checkUnique(
    "families",
    families.families.flatMap(([starts]) => starts),
  )
  return { sections, families }
}

function readJson(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`${name}.json`, import.meta.url), "utf8"))
}

function checkUnique(where: string, names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new Error(`scripts/known-models/${where}.json has ${twice} twice`)
}
