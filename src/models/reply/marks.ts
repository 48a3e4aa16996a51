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
/** By their first two characters: a reply may be full of first ones. */
const tokensAt = Map.groupBy(Object.entries(tokens), ([raw]) => raw.slice(0, 2))
const firsts: ReadonlySet<string> = new Set([...tokensAt.keys()].map((start) => start.charAt(0)))
/** What may stand behind the `<` of a tag. */
const tagStart = /[\s/a-z]/i

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
    const starts = /[<[◁]/g
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
  if (at + 1 === text.length) return firsts.has(text.charAt(at)) ? "partial" : undefined
  const known = tokensAt.get(text.slice(at, at + 2)) ?? []
  const mayBeTag = text[at] === "<" && tagStart.test(text.charAt(at + 1))
  if (known.length === 0 && !mayBeTag) return undefined
  const piece = text.slice(at, at + maxTagLength)
  for (const [raw, mark] of known) {
    if (piece.startsWith(raw)) return { mark, raw }
  }
  const isCut = at + piece.length === text.length && piece.length < maxTagLength
  if (isCut && known.some(([raw]) => raw.startsWith(piece))) return "partial"
  return mayBeTag ? readTag(piece, isCut) : undefined
}

function readTag(piece: string, isCut: boolean): Token | "partial" | undefined {
  const end = piece.indexOf(">")
  const inside = (end < 0 ? piece.slice(1) : piece.slice(1, end)).trimStart().toLowerCase()
  const isClosing = inside.startsWith("/")
  const name = isClosing ? inside.slice(1).trimStart() : inside
  if (end < 0) return isCut && mayBecomeName(name) ? "partial" : undefined
  const whole = name.trimEnd()
  const raw = piece.slice(0, end + 1)
  const mark = Object.hasOwn(tagNames, whole) ? tagNames[whole] : suffixedName.test(whole) ? "open" : undefined
  if (mark === undefined) return undefined
  return { mark: isClosing ? "close" : mark, raw }
}

function mayBecomeName(name: string): boolean {
  const trimmed = name.trimEnd()
  // White space behind the name: only ">" can follow.
  const isOver = trimmed !== name && trimmed !== ""
  if (suffixedName.test(trimmed)) return true
  return Object.keys(tagNames).some((whole) => (isOver ? whole === trimmed : whole.startsWith(trimmed)))
}
