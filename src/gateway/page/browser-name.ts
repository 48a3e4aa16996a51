// A browser as its owner would call it, out of its User-Agent: for the list of sign-ins.

const browsers: [mark: string, name: string][] = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["HeadlessChrome/", "Chrome"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
]
const systems: [mark: string, name: string][] = [
  ["Android", "Android"],
  ["iPhone", "iPhone"],
  ["iPad", "iPad"],
  ["Windows", "Windows"],
  ["Mac OS X", "macOS"],
  ["CrOS", "ChromeOS"],
  ["Linux", "Linux"],
]

export function browserName(userAgent: string | undefined): string {
  const agent = userAgent ?? ""
  const find = (list: [string, string][]) => list.find(([mark]) => agent.includes(mark))?.[1]
  return `${find(browsers) ?? "A browser"} on ${find(systems) ?? "an unknown system"}`
}
