// Id of a model as a configuration writes it -> the names under which a table may know it, the most exact first.
// Aggregators and clouds put makers, regions and paths in front, and dates, versions and routes behind.

/** As many ends as a real name has; more would be made to keep us busy. */
const mostEnds = 6
/** In characters. No name of a table is half as long; paths of files may stand before one. */
const longestName = 200

const ends: readonly RegExp[] = [
  // Routes of aggregators, tags of local servers, versions of Bedrock.
  /:(?:free|thinking|nitro|floor|extended|exacto|beta|online|batch|latest|cloud|\d)$/,
  /-(?:latest|preview|exp|cloud|maas|00\d)$/,
  /@(?:latest|default|20\d{6})$/,
  /-20\d{6}$/,
  /-20\d\d-\d\d-\d\d$/,
  /-\d\d-20\d\d$/,
  /-(?:preview|exp)-\d\d-\d\d$/,
]

const regions = new Set(["us", "us-gov", "eu", "apac", "ap", "jp", "au", "ca", "in", "global"])

const makers = new Set(
  "ai21 amazon anthropic cohere google meta minimax mistral moonshot moonshotai nvidia openai qwen writer xai zai".split(
    " ",
  ),
)

export interface ModelNames {
  /** For models by their name. */
  exact: string[]
  /** For families by the start of a name. */
  starts: string[]
}

export function namesOf(modelId: string): ModelNames {
  const written = modelId.trim().toLowerCase()
  const last = written.slice(written.lastIndexOf("/") + 1).slice(0, longestName)
  const whole = written.length > longestName ? last : written
  const plain = withoutMaker(whole.startsWith("accounts/fireworks/") ? withDots(last) : last)
  const exact = [whole, last, plain].flatMap(withoutEnds)
  // Tags of local servers stand behind a colon: gpt-oss:20b. Aggregators write claude-sonnet-4.5.
  const respelled = exact.flatMap((name) => [name.replaceAll(":", "-"), name.replaceAll(".", "-")])
  return { exact: [...new Set([...exact, ...respelled])], starts: [...new Set([last, plain].map(familySpelling))] }
}

/** llama-3.1-8b and llama3.1:8b are one: no dash stands between a word and its number. */
export function familySpelling(name: string): string {
  return name.replaceAll(":", "-").replaceAll(/(?<=[a-z])-(?=\d)/g, "")
}

/** Bedrock: us.anthropic.claude-sonnet-4-5-20250929-v1:0. Azure and Together: Meta-Llama-3.3-70B-Instruct. */
function withoutMaker(name: string): string {
  let rest = name
  for (const words of [regions, makers]) {
    const dot = rest.indexOf(".")
    if (dot > 0 && words.has(rest.slice(0, dot))) rest = rest.slice(dot + 1)
  }
  if (rest !== name) return rest.replace(/-v\d(?::\d)?$/, "")
  return rest.startsWith("meta-llama") ? rest.slice("meta-".length) : rest
}

/** Fireworks writes llama-v3p1 for llama-v3.1. */
function withDots(name: string): string {
  return name.replaceAll(/(?<=\d)p(?=\d)/g, ".")
}

function withoutEnds(name: string): string[] {
  const names = [name]
  let rest = name
  for (let count = 0; count < mostEnds; count += 1) {
    const end = ends.map((pattern) => pattern.exec(rest)?.index).find((index) => index !== undefined && index > 0)
    if (end === undefined) break
    rest = rest.slice(0, end)
    names.push(rest)
  }
  return names
}
