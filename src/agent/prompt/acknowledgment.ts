// The word by which the model says that nothing needs attention, and what counts as saying so.

export const heartbeatToken = "HEARTBEAT_OK"

/**
 * True when a reply only says that nothing needs attention: the token stands at its start or end and what is left
 * without it is at most `maxChars`. Media always counts as something.
 */
export function isHeartbeatAck(text: string, hasMedia: boolean, maxChars: number): boolean {
  if (hasMedia) return false
  const plain = trimMarks(
    text
      .replace(/<[^<>]*>/g, " ")
      .replace(/&nbsp;/gi, " ")
      .trim(),
  ).trim()
  if (plain === "") return true
  let rest = plain
  let found = false
  while (rest.startsWith(heartbeatToken) || rest.endsWith(heartbeatToken)) {
    found = true
    rest = rest.startsWith(heartbeatToken) ? rest.slice(heartbeatToken.length) : rest.slice(0, -heartbeatToken.length)
    rest = rest.trim()
  }
  return found && rest.replace(/\s+/g, " ").length <= maxChars
}

/** Without the marks of Markdown at both ends; a pattern for the end would look at a long run from each of its places. */
function trimMarks(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && marks.includes(text[from] as string)) from += 1
  while (to > from && marks.includes(text[to - 1] as string)) to -= 1
  return text.slice(from, to)
}

const marks = "*`~_"
