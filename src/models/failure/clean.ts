// A provider's words -> one line that may be shown and logged: no tags, no control characters, no secrets, no query
// strings. Works on a bounded piece of the text, and each step passes over it once.
import type { Redactor } from "../../kernel/index.ts"

/** Enough to find a cause in; the rest of a long body is repetition or the user's own text. */
const maxReadCharacters = 8000

export function cleanWords(
  text: string,
  options: { redactor: Redactor; maxCharacters: number; isAboutKey?: boolean },
): string {
  // Before anything is taken out, so that a known secret is still in one piece.
  const piece = options.redactor.redact(takePiece(text))
  const plain = oneLine(stripTags(piece))
  const masked = maskSecrets(cutAddresses(plain), options.isAboutKey === true)
  return shorten(options.redactor.redact(masked), options.maxCharacters)
}

/** The beginning of a text, without the word that the cut has halved: half a secret is not recognised. */
function takePiece(text: string): string {
  if (text.length <= maxReadCharacters) return text
  const piece = text.slice(0, maxReadCharacters)
  const lastSpace = piece.lastIndexOf(" ")
  return lastSpace < 0 ? piece.slice(0, 24) : piece.slice(0, lastSpace)
}

export function shorten(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text
  const cut = text.slice(0, maxCharacters - 1)
  const last = cut.charCodeAt(cut.length - 1)
  const isHalfPair = last >= 0xd800 && last <= 0xdbff
  return `${isHalfPair ? cut.slice(0, -1) : cut}…`
}

const entities: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&#x27;": "'",
  "&nbsp;": " ",
}

export function stripTags(text: string): string {
  if (!text.includes("<") && !text.includes("&")) return text
  const kept: string[] = []
  let from = 0
  for (;;) {
    const open = text.indexOf("<", from)
    const close = open < 0 ? -1 : text.indexOf(">", open)
    if (close < 0) break
    // "a < b" is no tag.
    const isTag = /[a-z/!?]/i.test(text.charAt(open + 1))
    kept.push(text.slice(from, isTag ? open : open + 1), isTag ? " " : "")
    from = isTag ? close + 1 : open + 1
  }
  kept.push(text.slice(from))
  return kept.join("").replace(/&(?:amp|lt|gt|quot|nbsp|#39|#x27);/g, (entity) => entities[entity] ?? entity)
}

/** Colours of terminals, control characters, and the invisible ones that turn text around. */
// oxlint-disable-next-line no-control-regex
const invisible = /\u001b\[[0-9;]{0,16}[A-Za-z]|[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

export function oneLine(text: string): string {
  return (
    text
      .replace(invisible, "")
      // oxlint-disable-next-line no-control-regex
      .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ")
      .trim()
  )
}

/** Addresses keep their host and path; user, password, query and fragment go. */
function cutAddresses(text: string): string {
  return text.replace(/\b[a-z][a-z0-9+.-]{1,15}:\/\/[^\s"'<>()]+/gi, (address) => {
    const hostAt = address.indexOf("://") + 3
    const end = address.slice(hostAt).search(/[?#]/)
    const place = end < 0 ? address.slice(hostAt) : address.slice(hostAt, hostAt + end)
    const slash = place.indexOf("/")
    const user = place.lastIndexOf("@", slash < 0 ? undefined : slash)
    return address.slice(0, hostAt) + place.slice(user + 1)
  })
}

/** Keys as providers issue them, also when a provider has starred out their middle. */
const keyForms =
  /\b(?:(?:sk|pk|rk)-[\w*.…-]{4,}|(?:gsk|hf|ghp|gho|ghs|r8|fw|tgp|csk)_[\w*-]{6,}|(?:xai|nvapi|pplx|csk|glpat)-[\w*-]{6,}|AIza[\w*-]{8,}|(?:AKIA|ASIA|ABSK)[\w*+/=]{8,}|ya29\.[\w*.-]{6,}|eyJ[\w.-]{12,})/g
const namedSecret =
  /((?:api[ _-]?key|access[ _-]?token|auth[ _-]?token|token|secret|password|authorization|credential)["']?(?: provided)?\s?[:=]\s?["']?)([^\s"',;}]{4,})/gi

function maskSecrets(text: string, isAboutKey: boolean): string {
  return (
    text
      .replace(keyForms, "***")
      .replace(namedSecret, (whole, name: string, value: string) => {
        const isSecret = value.includes("*") || value.length >= 16 || (/\d/.test(value) && /[a-z]/i.test(value))
        return isSecret ? `${name}***` : whole
      })
      .replace(/[\w+/=*-]{10,}/g, (word) => (looksSecret(word, isAboutKey) ? "***" : word))
      // The end that a provider leaves of a key which it has starred out.
      .replace(/\*{3,}[\w-]*/g, "***")
  )
}

/** Ids that providers give requests and replies: whoever asks them for help needs these. */
const publicId = /^(?:req|resp|msg|org|chatcmpl|gen|rs|fc|call|toolu)[_-]/

function looksSecret(word: string, isAboutKey: boolean): boolean {
  // In an error about a key, whatever is not a plain word may be the key, or what is left of it.
  if (isAboutKey && !word.includes("/")) return word.includes("*") || (/\d/.test(word) && /[a-z]/i.test(word))
  if (word.length < 24 || publicId.test(word)) return false
  if (word.length >= 32 && (/^[0-9a-f]+$/i.test(word) || /[+=]/.test(word))) return true
  return word
    .split(/[/_-]/)
    .some((part) => part.length >= 20 && /[a-z]/.test(part) && /[A-Z]/.test(part) && /\d/.test(part))
}
