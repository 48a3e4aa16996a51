// The name of a tool as a model wrote it, with what its template leaves in it -> the tool that was meant.

/** What providers take as a name; others would have the conversation refused with it. */
const maxNameLength = 64
const maxReadLength = 256

/** Words of harmony's headers that are left in a name when only their marks are taken out. */
const leftovers = ["commentary", "analysis", "final", "json", "code"]
const prefixes = /^(?:functions?|tools?|default_api|multi_tool_use)[.:/]/i

/** `skill<|channel|>json`, `functions.browser`, ` Browser() ` -> the known tool, else a name that can be sent back. */
export function cleanToolName(name: string, known: readonly string[]): string {
  if (known.includes(name)) return name
  const candidates = readCandidates(name.slice(0, maxReadLength))
  for (const candidate of candidates) {
    const tool = findTool(candidate, known)
    if (tool !== undefined) return tool
  }
  for (const candidate of candidates) {
    const bare = plain(candidate)
    const leftover = leftovers.find((word) => bare.length > word.length && bare.endsWith(word))
    const tool = leftover === undefined ? undefined : findTool(bare.slice(0, -leftover.length), known)
    if (tool !== undefined) return tool
  }
  return sendable(candidates[0] ?? "")
}

/** The parts between special tokens that may be the name, the likeliest first. */
function readCandidates(name: string): string[] {
  const recipient = name.lastIndexOf("to=")
  const text = recipient < 0 ? name : name.slice(recipient + 3)
  const parts = text
    .split(/<\|?[^<>|]{0,40}\|?>/)
    .map((part) =>
      part
        .trim()
        .replace(/^["'`]/, "")
        .replace(prefixes, ""),
    )
    .map((part) => part.split(/[(<{[\s]/)[0] ?? "")
    .map((part) => part.replace(/:\d{1,6}$/, ""))
    .filter((part) => plain(part) !== "")
  // Behind a name these are of the header; alone one of them may be a tool's.
  const named = parts.filter((part) => !leftovers.includes(part))
  return named.length > 0 ? named : parts
}

/** Letters and digits alone: models change case and write `web-search`, `web_search` and `webSearch` alike. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "")
}

function findTool(candidate: string, known: readonly string[]): string | undefined {
  if (known.includes(candidate)) return candidate
  const wanted = plain(candidate)
  const found = known.filter((tool) => plain(tool) === wanted)
  return found.length === 1 ? found[0] : undefined
}

function sendable(name: string): string {
  const cleaned = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, maxNameLength)
  return /[a-zA-Z0-9]/.test(cleaned) ? trimMarks(cleaned) : "unknown"
}

/** Punctuation around a name has become underscores. */
function trimMarks(name: string): string {
  let start = 0
  let end = name.length
  while (name.charAt(start) === "_") start += 1
  while (end > start && name.charAt(end - 1) === "_") end -= 1
  return name.slice(start, end)
}
