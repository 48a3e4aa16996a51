// The command language of the offline model: text -> commands. Pure; docs/guides/offline-model.md describes it.
import { trimEnd } from "../../kernel/index.ts"
import { type Reminder, readReminder } from "./reminders.ts"

export type Command =
  | { kind: "open"; url: string }
  | { kind: "read" }
  | { kind: "click"; name: string }
  | { kind: "add"; name: string }
  | { kind: "type"; text: string; name: string }
  | { kind: "press"; key: string }
  | { kind: "screenshot" }
  | { kind: "tabs" }
  | { kind: "say"; text: string }
  | { kind: "think"; text: string }
  | { kind: "wait"; seconds: number }
  | ({ kind: "remind" } & Reminder)
  | { kind: "remind-when" }
  | { kind: "reminders" }
  | { kind: "forget"; id: string }
  | { kind: "help" }
  | { kind: "unknown"; text: string }

/** The longest pause: a turn that is held open longer than this is a mistake rather than a wish. */
export const maxWaitSeconds = 60

/** A command longer than this is none; only free text (say, think) may be as long as it likes. */
const maxCommandLength = 2000
/** In a group the bot is called by its name first. */
const calling = /^\s{0,9}@\w{1,64}[\s,:]{1,9}/
const freeText = /^(?:please\s{1,5})?(?:say|think)\s/i

/** Commands in the order written. Never throws: what is not understood is a command of kind `unknown`. */
export function parseCommands(text: string): Command[] {
  return text
    .replace(calling, "")
    .split("\n")
    .flatMap(splitHard)
    .flatMap((segment) => {
      if (freeText.test(segment)) return [parseFreeText(segment)]
      if (segment.length > maxCommandLength) return [{ kind: "unknown", text: `${segment.slice(0, 200)}…` } as const]
      return splitSoft(segment).map(parseCommand)
    })
}

const quotePairs: Readonly<Record<string, string>> = { '"': '"', "“": "”", "«": "»" }
const thenWord = /^(?:\s*,)?\s+(?:and\s+)?then\s+/i

/** Cuts a line at ";" and "then", but not between quotes. Linear in the length of the line. */
function splitHard(line: string): string[] {
  const segments: string[] = []
  const isQuoted = quotedPositions(line)
  let start = 0
  for (let index = 0; index < line.length;) {
    const character = line.charAt(index)
    const then = !isQuoted(index) && /[\s,]/.test(character) ? thenWord.exec(line.slice(index, index + 40)) : null
    const length = then?.[0].length ?? 1
    if (then !== null || (character === ";" && !isQuoted(index))) {
      segments.push(line.slice(start, index))
      start = index + length
    }
    index += length
  }
  segments.push(line.slice(start))
  return segments.map((segment) => segment.trim()).filter((segment) => segment !== "")
}

/** Whether a position of the line stands between quotes; a quote that is never closed is an ordinary character. */
function quotedPositions(line: string): (index: number) => boolean {
  const spans: [number, number][] = []
  for (let index = 0; index < line.length; index += 1) {
    const pair = quotePairs[line.charAt(index)]
    const end = pair === undefined ? -1 : line.indexOf(pair, index + 1)
    if (pair !== undefined && end === -1) break
    if (end === -1) continue
    spans.push([index, end])
    index = end
  }
  let at = 0
  return (index) => {
    while (at > 0 && (spans[at]?.[0] ?? 0) > index) at -= 1
    while (at < spans.length && (spans[at]?.[1] ?? 0) < index) at += 1
    return (spans[at]?.[0] ?? Number.POSITIVE_INFINITY) <= index
  }
}

const verbs =
  "open|go\\s{1,9}to|visit|read|click|press|add|put|type|screenshot|take\\s{1,9}a|send\\s{1,9}(?:me\\s{1,9})?a|show\\s{1,9}me|list|say|wait"
const softCut = new RegExp(
  `(?:\\s{0,9},\\s{0,9}(?:and\\s{1,9})?|\\s{1,9}and\\s{1,9})(?=(?:please\\s{1,9})?(?:${verbs})\\b)`,
  "gi",
)

/** Cuts "open X and click Y" too, where the next word is a verb; what is to be typed is left whole. */
function splitSoft(segment: string): string[] {
  // What one is reminded of may well be "to open the shop and read the mail".
  if (/^(?:please\s{1,5})?remind\s/i.test(segment)) return [segment]
  const isQuoted = quotedPositions(segment)
  const typed = /^(?:please\s{1,9})?type\s.+?\s(?:into|in)\s/i.exec(segment)?.[0].length ?? 0
  const parts: string[] = []
  let start = 0
  for (const cut of segment.matchAll(softCut)) {
    if (cut.index < typed || isQuoted(cut.index)) continue
    parts.push(segment.slice(start, cut.index))
    start = cut.index + cut[0].length
  }
  parts.push(segment.slice(start))
  return parts.map((part) => part.trim()).filter((part) => part !== "")
}

/** Free text keeps its punctuation. */
function parseFreeText(segment: string): Command {
  const plain = segment.replace(/^please\s{1,9}/i, "")
  const text = unquote(plain.slice("say".length + (/^think/i.test(plain) ? 2 : 0)))
  return /^say/i.test(plain) ? { kind: "say", text } : { kind: "think", text }
}

interface Rule {
  pattern: RegExp
  build(match: RegExpExecArray): Command
}

const one = (match: readonly string[]) => unquote(match[1] ?? "")

const rules: readonly Rule[] = [
  { pattern: /^(?:open|go\s{1,9}to|visit|navigate\s{1,9}to)\s{1,9}(.+)$/i, build: (m) => openCommand(one(m)) },
  { pattern: /^read(?:\s{1,9}(?:the\s{1,9}|this\s{1,9})?page)?$/i, build: () => ({ kind: "read" }) },
  {
    pattern:
      /^(?:add|put)\s{1,9}(.+?)\s{1,9}(?:in|to|into|in\s{1,9}to)\s{1,9}(?:the\s{1,9}|my\s{1,9})?(?:basket|cart|bag)$/i,
    build: (m) => ({ kind: "add", name: one(m) }),
  },
  {
    pattern: /^(?:click|tap)\s{1,9}(?:on\s{1,9})?(?:the\s{1,9})?(.+)$/i,
    build: (m) => ({ kind: "click", name: nameOf(one(m)) }),
  },
  {
    pattern: /^type\s{1,9}(.+)\s{1,9}(?:into|in)\s{1,9}(?:the\s{1,9})?(.+)/is,
    build: (m) => ({ kind: "type", text: one(m), name: nameOf(unquote(m[2] ?? "")) }),
  },
  {
    pattern: /^press\s{1,9}(?:the\s{1,9})?(.+?)(?:\s{1,9}key)?$/i,
    build: (m) => ({ kind: "press", key: keyName(one(m)) }),
  },
  {
    pattern:
      /^(?:(?:take|make|send|show)\s{1,9})?(?:me\s{1,9})?(?:a\s{1,9}|the\s{1,9})?(?:screenshot|screen\s{1,9}shot|picture)(?:\s{1,9}of\s{1,9}(?:the\s{1,9}|this\s{1,9})?page)?$/i,
    build: () => ({ kind: "screenshot" }),
  },
  { pattern: /^(?:list|show)?\s{0,9}(?:all\s{1,9}|my\s{1,9}|the\s{1,9})*tabs$/i, build: () => ({ kind: "tabs" }) },
  {
    pattern: /^wait\s{1,9}(\d+(?:\.\d+)?)\s{0,9}(?:s|sec|second|seconds)?$/i,
    build: (m) => ({ kind: "wait", seconds: Math.min(Number(m[1]), maxWaitSeconds) }),
  },
  { pattern: /^remind\s{1,9}me\b/is, build: (m) => remindCommand(m.input ?? "") },
  {
    pattern: /^(?:list\s{1,9}|show\s{1,9})?(?:all\s{1,9}|my\s{1,9}|the\s{1,9})*reminders$/i,
    build: () => ({ kind: "reminders" }),
  },
  {
    pattern: /^(?:cancel|remove|delete|forget)\s{1,9}(?:the\s{1,9})?reminder\s{1,9}([\w-]{1,64})$/i,
    build: (m) => ({ kind: "forget", id: one(m).toLowerCase() }),
  },
  { pattern: /^(?:help|\?|hello|hi|who are you|what can you do)$/i, build: () => ({ kind: "help" }) },
]

function parseCommand(segment: string): Command {
  const plain = segment.trim().replace(/^please[\s,]+/i, "")
  const words = trimEnd(plain.replace(/\s/g, " "), " .,!?").replace(/,?\s{1,9}please$/i, "")
  const text = words === "" ? plain : words
  for (const rule of rules) {
    const match = rule.pattern.exec(text)
    if (match) return rule.build(match)
  }
  return { kind: "unknown", text: plain }
}

/** `example.org` is meant as `https://example.org`; on this machine as plain http. What is no address is not understood. */
function openCommand(address: string): Command {
  const withScheme = /^(?:[a-z][a-z0-9+.-]*:\/\/|about:|data:)/i.test(address)
    ? address
    : `${/^(?:localhost|127\.|\[::1\])/i.test(address) ? "http" : "https"}://${address}`
  const looksLikeHost = withScheme === address || /^[^\s/]+\.[^\s/]+|^localhost\b|^\[/i.test(address)
  if (!looksLikeHost || !URL.canParse(withScheme)) return { kind: "unknown", text: `open ${address}` }
  return { kind: "open", url: withScheme }
}

function remindCommand(sentence: string): Command {
  const reminder = readReminder(sentence)
  return reminder ? { kind: "remind", ...reminder, text: unquote(reminder.text) } : { kind: "remind-when" }
}

const keyNames: Readonly<Record<string, string>> = {
  enter: "Enter",
  return: "Enter",
  esc: "Escape",
  escape: "Escape",
  tab: "Tab",
  space: "Space",
  backspace: "Backspace",
  delete: "Delete",
  up: "ArrowUp",
  down: "ArrowDown",
  left: "ArrowLeft",
  right: "ArrowRight",
  home: "Home",
  end: "End",
  "page up": "PageUp",
  "page down": "PageDown",
}

function keyName(written: string): string {
  return keyNames[written.toLowerCase()] ?? written
}

/** `"Add to cart" button` -> `Add to cart button` */
function nameOf(written: string): string {
  return written.replace(/^"([^"]+)"(\s+\w+)$/, "$1$2")
}

function unquote(text: string): string {
  const trimmed = text.trim()
  const closing = quotePairs[trimmed.charAt(0)] ?? (trimmed.startsWith("'") ? "'" : undefined)
  return closing !== undefined && trimmed.length > 1 && trimmed.endsWith(closing) ? trimmed.slice(1, -1) : trimmed
}
