// Addresses by pattern: `*` stands for anything. Without a star the address must be the same, or only hold the words.

export function matchesUrl(pattern: string, url: string): boolean {
  if (pattern === url) return true
  if (!pattern.includes("*")) return !pattern.includes("#") && url.split("#")[0] === pattern
  return matchesParts(pattern.split(/\*+/), url)
}

/** The first part at the start, the last at the end, those between in their order; in one pass, whatever the pattern. */
function matchesParts(parts: string[], url: string): boolean {
  const first = parts[0] as string
  const last = parts.at(-1) as string
  if (!url.startsWith(first) || !url.endsWith(last)) return false
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = url.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return url.length - last.length >= at
}

/** For requests: a pattern without a star may be any part of the address. */
export function matchesPartly(pattern: string, url: string): boolean {
  return pattern.includes("*") ? matchesUrl(pattern, url) : url.includes(pattern)
}
