// Addresses by pattern: `*` stands for anything. Without a star the address must be the same, or only hold the words.

export function matchesUrl(pattern: string, url: string): boolean {
  if (pattern === url) return true
  if (!pattern.includes("*")) return !pattern.includes("#") && url.split("#")[0] === pattern
  return new RegExp(`^${pattern.split(/\*+/).map(escape).join(".*")}$`, "s").test(url)
}

/** For requests: a pattern without a star may be any part of the address. */
export function matchesPartly(pattern: string, url: string): boolean {
  return pattern.includes("*") ? matchesUrl(pattern, url) : url.includes(pattern)
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
}
