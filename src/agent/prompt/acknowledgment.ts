// The word by which the model says that nothing needs attention, and what counts as saying so.
import { trimBoth } from "../../kernel/index.ts"

export const heartbeatToken = "HEARTBEAT_OK"

/**
 * True when a reply only says that nothing needs attention: the token stands at its start or end and what is left
 * without it is at most `maxChars`. Media always counts as something.
 */
export function isHeartbeatAck(text: string, hasMedia: boolean, maxChars: number): boolean {
  if (hasMedia) return false
  const bare = text.replace(/<[^<>]*>/g, " ").replace(/&nbsp;/gi, " ")
  const plain = trimBoth(bare.trim(), "*`~_").trim()
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
