// `?api_key=...&sig=...` in any text: the values of parameters whose names stand for credentials.
import { isSecretName } from "../secret-names.ts"

const enders: ReadonlySet<number> = new Set([..."&#; \t\r\n\"'<>\\"].map((each) => each.charCodeAt(0)))
const shortestName = 3
const longestName = 64

export function hideQueryValues(text: string): string {
  let result = ""
  let copied = 0
  for (let equals = text.indexOf("="); equals !== -1; equals = text.indexOf("=", equals + 1)) {
    const name = nameBefore(text, equals, copied)
    if (name === undefined || !isSecretName(name)) continue
    const to = endOfValue(text, equals + 1)
    if (to === equals + 1) continue
    result += `${text.slice(copied, equals + 1)}***`
    copied = to
    equals = to - 1
  }
  return result + text.slice(copied)
}

/** Reads back to the `?`, `&` or `;`; not over another `=`, so that nothing is read twice. */
function nameBefore(text: string, equals: number, from: number): string | undefined {
  const first = Math.max(from, equals - longestName)
  for (let at = equals - 1; at >= first; at -= 1) {
    const code = text.charCodeAt(at)
    if (isNameCode(code)) continue
    const isStart = code === 0x3f || code === 0x26 || code === 0x3b
    return isStart && equals - at > shortestName ? text.slice(at + 1, equals) : undefined
  }
  return undefined
}

/** Letters, digits and `_ - . % [ ]`. */
function isNameCode(code: number): boolean {
  const letter = code | 0x20
  if ((letter >= 0x61 && letter <= 0x7a) || (code >= 0x30 && code <= 0x39)) return true
  return code === 0x5f || code === 0x2d || code === 0x2e || code === 0x25 || code === 0x5b || code === 0x5d
}

/** A value ends at the next parameter, a space, or the end of the string that the text stands in. */
function endOfValue(text: string, from: number): number {
  let at = from
  while (at < text.length && !enders.has(text.charCodeAt(at))) at += 1
  return at
}
