// What is known of models that the configuration says nothing about: families by the start of their name, with
// figures that are safe for every member. A wrong guess here costs a trimmed transcript, not an error.

interface Family {
  pattern: RegExp
  contextTokens: number
  vision: boolean
}

const families: readonly Family[] = [
  { pattern: /^gpt-5|^gpt-6/, contextTokens: 272_000, vision: true },
  { pattern: /^gpt-4\.1/, contextTokens: 1_000_000, vision: true },
  { pattern: /^(?:gpt-4o|chatgpt-4o|gpt-4-turbo)/, contextTokens: 128_000, vision: true },
  { pattern: /^gpt-4/, contextTokens: 8192, vision: false },
  { pattern: /^gpt-3\.5/, contextTokens: 16_000, vision: false },
  { pattern: /^o[134]\b/, contextTokens: 200_000, vision: true },
  { pattern: /^claude-/, contextTokens: 200_000, vision: true },
  { pattern: /^gemini-/, contextTokens: 1_000_000, vision: true },
  { pattern: /^(?:llava|pixtral|qwen[\d.]*-?vl|gemma-?[34])/, contextTokens: 32_000, vision: true },
]

/** Most models of today take this much; a smaller one is set right by `models.providers.<name>.models`. */
const unknownFamily = { contextTokens: 128_000, vision: false }

export function familyOf(modelId: string): { contextTokens: number; vision: boolean } {
  // Aggregators put the maker in front: `maker/model`.
  const name = modelId.toLowerCase().split("/").at(-1) ?? ""
  const family = families.find(({ pattern }) => pattern.test(name))
  return family ? { contextTokens: family.contextTokens, vision: family.vision } : unknownFamily
}
