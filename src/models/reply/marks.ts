// The marks with which models set off their reasoning inside the text, found in a stream that may be cut anywhere.
// text -> characters and marks; whether a mark is structure or only spoken of is decided in hidden-reasoning.ts.

export type Mark =
  /** Begins reasoning, also in the middle of a reply. */
  | "open"
  /** Begins reasoning only at the start of a reply: words of other uses too. */
  | "open-at-start"
  | "close"
  /** Begins the header of a message with a channel (harmony), which "message" ends. */
  | "header"
  | "message"
  | "end"
  /** Begins a channel whose name stands on the same line (Gemma). */
  | "label"
  /** Says nothing to people or to us. */
  | "noise"

export type Token = { mark: Mark; raw: string } | { mark?: never; raw: string }

const tagNames: Readonly<Record<string, "open" | "open-at-start">> = {
  think: "open", // DeepSeek, Qwen, MiniMax M2, GLM, Nemotron, ...
  thinking: "open", // Granite, and models taught on Claude's replies; MiniMax M3 leaks it
  "seed:think": "open", // Seed-OSS
  "mm:think": "open", // MiniMax M3
  thought: "open-at-start", // EXAONE Deep, Gemini's tunes
  reasoning: "open-at-start", // Reka Flash
}
/** Hunyuan writes `<think:opensource>`. */
const suffixedName = /^think:[a-z0-9_]{0,24}$/

const tokens: Readonly<Record<string, Mark>> = {
  "◁think▷": "open", // Kimi-VL, Kimi-Dev
  "◁/think▷": "close",
  "[THINK]": "open", // Magistral
  "[/THINK]": "close",
  "<|START_THINKING|>": "open", // Cohere Command A
  "<|END_THINKING|>": "close",
  "<|START_RESPONSE|>": "noise",
  "<|END_RESPONSE|>": "noise",
  "<|inner_prefix|>": "open", // Apertus
  "<|inner_suffix|>": "close",
  "<|begin_of_thought|>": "open", // OpenThinker
  "<|end_of_thought|>": "close",
  "<|begin_of_solution|>": "noise",
  "<|end_of_solution|>": "noise",
  // Harmony (gpt-oss): <|start|>assistant<|channel|>analysis<|message|>...<|end|>
  "<|start|>": "header",
  "<|channel|>": "header",
  "<|message|>": "message",
  "<|constrain|>": "noise",
  "<|end|>": "end",
  "<|return|>": "end",
  "<|call|>": "end",
  // Gemma 4: <|channel>thought\n...<channel|>
  "<|channel>": "label",
  "<channel|>": "close",
  "<|turn>": "noise",
  "<turn|>": "noise",
}
/** By their first characters, fewer than the shortest has: a reply may be full of what begins like one. */
const keyLength = 3
const tokensAt = Map.groupBy(Object.entries(tokens), ([raw]) => raw.slice(0, keyLength))
/** What may stand behind the `<` of a tag: white space, a slash, the first letter of a name. */
const firstLetters = new Set(Object.keys(tagNames).map((name) => name.charAt(0)))
/** Where a mark may begin, by its first character and the letters that follow it: a reply may be full of `[` and `<`. */
const starts = /[<[◁](?=\/?(?:[\s|cmrst]|$))/gi
const isTagStart = (character: string) =>
  character === "/" || space.test(character) || firstLetters.has(character.toLowerCase())
const space = /\s/
const nameCharacter = /[a-z0-9_:]/i

/** Longest tag, with white space inside it; what is longer is text. */
const maxTagLength = 64

/** Cuts a stream into marks and the characters between them; holds back only what may still become a mark. */
export class MarkReader {
  #held = ""

  push(text: string): Token[] {
    const rest = this.#held + text
    this.#held = ""
    const read: Token[] = []
    let from = 0
    starts.lastIndex = 0
    for (let match = starts.exec(rest); match; match = starts.exec(rest)) {
      const found = readMark(rest, match.index)
      if (found === undefined) continue
      if (match.index > from) read.push({ raw: rest.slice(from, match.index) })
      if (found === "partial") {
        this.#held = rest.slice(match.index)
        return read
      }
      read.push(found)
      from = match.index + found.raw.length
      starts.lastIndex = from
    }
    if (from < rest.length) read.push({ raw: rest.slice(from) })
    return read
  }

  /** What was held back: no mark came of it. */
  end(): string {
    const held = this.#held
    this.#held = ""
    return held
  }
}

function readMark(text: string, at: number): Token | "partial" | undefined {
  for (const [raw, mark] of tokensAt.get(text.slice(at, at + keyLength)) ?? []) {
    if (text.startsWith(raw, at)) return { mark, raw }
  }
  if (isCutShort(text, at) && Object.keys(tokens).some((raw) => raw.startsWith(text.slice(at)))) return "partial"
  return text[at] === "<" && isTagStart(text.charAt(at + 1)) ? readTag(text, at) : undefined
}

/** What begins here may go on in the next piece of the stream. */
function isCutShort(text: string, at: number): boolean {
  return text.length - at < maxTagLength
}

/** `<name>` or `</name>`, maybe with white space between; looks no further than it goes on like one. */
function readTag(text: string, at: number): Token | "partial" | undefined {
  const end = Math.min(text.length, at + maxTagLength)
  const skip = (what: RegExp, from: number) => {
    let index = from
    while (index < end && what.test(text.charAt(index))) index += 1
    return index
  }
  const slash = skip(space, at + 1)
  const isClosing = text[slash] === "/"
  const from = isClosing ? skip(space, slash + 1) : slash
  const to = skip(nameCharacter, from)
  const close = skip(space, to)
  if (close < end && text[close] !== ">") return undefined
  const name = text.slice(from, to).toLowerCase()
  // With white space behind the name only ">" can follow.
  if (close === end) return isCutShort(text, at) && mayBecomeName(name, close > to) ? "partial" : undefined
  const mark = Object.hasOwn(tagNames, name) ? tagNames[name] : suffixedName.test(name) ? "open" : undefined
  if (mark === undefined) return undefined
  return { mark: isClosing ? "close" : mark, raw: text.slice(at, close + 1) }
}

function mayBecomeName(name: string, isOver: boolean): boolean {
  if (suffixedName.test(name)) return true
  return Object.keys(tagNames).some((whole) => (isOver ? whole === name : whole.startsWith(name)))
}
