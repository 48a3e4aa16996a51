// Reasoning that a model writes into the text of its reply, between tags or in channels of its own, is taken out
// before a person sees it: text deltas -> marks -> pieces of text and of reasoning. A tag that the reply only speaks
// of, in code or in the middle of a line, stays where it is.
import { MarkdownPlace } from "./markdown-place.ts"
import { MarkReader, type Mark, type Token } from "./marks.ts"

export type Piece =
  | { kind: "text" | "reasoning"; text: string }
  /** All text pieces so far were reasoning: its end came, its beginning never did. */
  | { kind: "reclassify" }

/** `open`: the reply begins inside reasoning, whose opening tag the server has kept. `off`: the text stays as it is. */
export type ReasoningMode = "auto" | "open" | "off"

export interface ReasoningFilter {
  push(text: string): Piece[]
  /** What was held back. A block that was never closed stays reasoning. */
  end(): Piece[]
}

export function createReasoningFilter(mode: ReasoningMode): ReasoningFilter {
  if (mode !== "off") return new Filter(mode)
  return { push: (text) => (text === "" ? [] : [{ kind: "text", text }]), end: () => [] }
}

/** The same for a whole text. */
export function stripHiddenReasoning(text: string, mode: ReasoningMode): { text: string; reasoning: string } {
  const filter = createReasoningFilter(mode)
  const shown: string[] = []
  const hidden: string[] = []
  for (const piece of [...filter.push(text), ...filter.end()]) {
    if (piece.kind === "reclassify") hidden.push(...shown.splice(0))
    else (piece.kind === "text" ? shown : hidden).push(piece.text)
  }
  return { text: shown.join(""), reasoning: hidden.join("") }
}

type State =
  | { name: "text" }
  /** Between tags. */
  | { name: "block" }
  /** Inside a message of a hidden channel. */
  | { name: "channel" }
  /** Behind `<|start|>` or `<|channel|>` (`mark`): role, channel and tool, up to `<|message|>` or the line's end. */
  | { name: "header"; mark: string; written: string; wasHidden: boolean }
  /** Behind Gemma's `<|channel>`: the channel's name, up to the line's end. */
  | { name: "label"; written: string }
  /** It may all be reasoning: nothing is given before its end has come, or the reply's. */
  | { name: "undecided"; held: string[]; isBlank: boolean }
  | { name: "bare"; held: string[]; tail: string }

/** Longer headers have lost their `<|message|>`. */
const maxHeaderLength = 160
const hiddenChannel = /analysis|commentary|thought|think|\bto=/i
const headerWords = ["assistant", "analysis", "commentary", "final", "user", "tool", "system", "developer", "functions"]

/** Servers that drop harmony's marks but not its words: "analysisWe need ...assistantfinalThe answer". */
const bareStart = "analysis"
const bareEnd = "assistantfinal"
/** White space at the start of a reply that is waited for. */
const maxLeadLength = 1000

class Filter implements ReasoningFilter {
  readonly #reader = new MarkReader()
  #place = new MarkdownPlace()
  #pieces: Piece[] = []
  #state: State
  /** Text that is more than white space has been given. */
  #hasText = false
  #hasBlock = false
  /** Nothing but white space since the last reasoning. */
  #isBehindBlock = false
  #dropsSpace = false
  /** White space before the first word, and letters that may become `bareStart`. */
  #lead = ""
  /** An opening tag that is only spoken of stands on this line: so is the closing one behind it. */
  #mentionsTag = false
  /** An opening tag stands in a block of code, so closing ones may well be code too. */
  #showsTags = false
  /** A closing tag in a block of code that was never opened. Followed by the line's end, it is not code. */
  #fencedClose: string | undefined
  /** Marks behind a backtick: code, if another one closes it on the same line. */
  #doubtful: Token[] | undefined

  constructor(mode: "auto" | "open") {
    this.#state = mode === "open" ? { name: "undecided", held: [], isBlank: true } : { name: "text" }
  }

  push(text: string): Piece[] {
    for (const token of this.#reader.push(text)) this.#take(token)
    return this.#given()
  }

  end(): Piece[] {
    const left = this.#reader.end()
    if (left !== "") this.#take({ raw: left })
    this.#settleDoubt()
    if (this.#fencedClose !== undefined) this.#settleFence(true)
    const state = this.#state
    if (state.name === "undecided" || state.name === "bare") this.#give("text", state.held.join(""))
    if (!this.#hasBlock || this.#lead.trim() !== "") this.#give("text", this.#lead)
    this.#lead = ""
    return this.#given()
  }

  #given(): Piece[] {
    const pieces = this.#pieces
    this.#pieces = []
    return pieces
  }

  #give(kind: "text" | "reasoning", text: string): void {
    if (text === "") return
    const last = this.#pieces.at(-1)
    if (last?.kind === kind) last.text += text
    else this.#pieces.push({ kind, text })
  }

  #take(token: Token): void {
    const state = this.#state
    switch (state.name) {
      case "text":
        return this.#takeInText(token)
      case "block":
        return token.mark === "close" ? this.#endBlock() : this.#give("reasoning", token.raw)
      case "channel":
        if (token.mark === "end") return this.#endBlock()
        if (token.mark === "header") return this.#beginHeader(token.raw, true)
        return this.#give("reasoning", token.raw)
      case "header":
        return this.#takeInHeader(token, state)
      case "label":
        return this.#takeInLabel(token, state)
      case "undecided":
        return this.#takeUndecided(token, state)
      case "bare":
        return this.#takeBare(token.raw, state)
    }
  }

  // Text

  #takeInText(token: Token): void {
    if (this.#doubtful) return this.#takeInDoubt(token, this.#doubtful)
    if (this.#fencedClose !== undefined) this.#settleFence(/^[\r\n]/.test(token.raw))
    if (token.mark === undefined) return this.#showText(token.raw)
    const lead = this.#lead
    // Letters that were waited for: a mark behind them says that they are text.
    if (lead.trim() !== "") this.#showLead()
    const place = this.#place.place()
    const isOpening = token.mark === "open" || token.mark === "open-at-start"
    if (place === "fence") return this.#takeInFence(token.raw, token.mark, isOpening)
    if (place === "inline-code") {
      if (isOpening) return this.#showText(token.raw)
      this.#doubtful = [token]
      return
    }
    const isStructure = !this.#hasText || this.#isBehindBlock || (token.mark === "open" && place === "line-start")
    if (isOpening && !isStructure) {
      this.#mentionsTag = true
      return this.#showText(token.raw, true)
    }
    if (token.mark === "close" && this.#mentionsTag) {
      this.#mentionsTag = false
      return this.#showText(token.raw, true)
    }
    this.#dropsSpace = place === "line-start"
    this.#applyMark(token.mark, token.raw)
  }

  /**
   * A fence that reasoning has left open makes everything behind it look like code, the end of the reasoning too. Only
   * where the reply has had no block yet: otherwise there is no end that could be meant.
   */
  #takeInFence(raw: string, mark: Mark, isOpening: boolean): void {
    if (isOpening) this.#showsTags = true
    if (mark === "close" && !this.#hasBlock && !this.#showsTags) this.#fencedClose = raw
    else this.#showText(raw)
  }

  #settleFence(isStructure: boolean): void {
    const raw = this.#fencedClose ?? ""
    this.#fencedClose = undefined
    if (isStructure) this.#applyMark("close", raw)
    else this.#showText(raw)
  }

  #applyMark(mark: Mark, raw: string): void {
    switch (mark) {
      case "open":
      case "open-at-start":
        this.#state = { name: "block" }
        return
      case "close":
        if (this.#hasText) this.#pieces.push({ kind: "reclassify" })
        this.#hasText = false
        return this.#endBlock()
      case "header":
        return this.#beginHeader(raw, false)
      case "label":
        this.#state = { name: "label", written: "" }
        return
      case "message":
      case "end":
      case "noise":
        this.#isBehindBlock = true
        this.#hasBlock = true
        return
    }
  }

  #takeInDoubt(token: Token, doubtful: Token[]): void {
    if (token.mark !== undefined) {
      if (this.#place.place() === "inline-code") doubtful.push(token)
      else {
        this.#settleCode()
        this.#take(token)
      }
      return
    }
    // A run of backticks that ended the piece before has ended there.
    if (!token.raw.startsWith("`") && this.#place.place() !== "inline-code") {
      this.#settleCode()
      return this.#take(token)
    }
    // Up to the line's end, or to the backtick that makes it code.
    const lineEnd = token.raw.indexOf("\n")
    const whole = lineEnd < 0 ? token.raw : token.raw.slice(0, lineEnd)
    let fed = 0
    for (const { index } of whole.matchAll(/`(?!`)/g)) {
      const end = index + 1
      // The piece ends with the run: it may go on in the next one.
      if (end === whole.length) break
      this.#place.feed(whole.slice(fed, end))
      doubtful.push({ raw: whole.slice(fed, end) })
      fed = end
      if (this.#place.place() === "inline-code") continue
      this.#settleCode()
      return this.#take({ raw: token.raw.slice(end) })
    }
    const onLine = whole.slice(fed)
    this.#place.feed(onLine)
    doubtful.push({ raw: onLine })
    if (lineEnd < 0) {
      // A run of backticks at the end of a piece may go on in the next one.
      if (!onLine.endsWith("`") && this.#place.place() !== "inline-code") this.#settleCode()
      return
    }
    this.#settleDoubt()
    this.#take({ raw: token.raw.slice(lineEnd) })
  }

  /** It was code: the marks are words of the reply. */
  #settleCode(): void {
    const tokens = this.#doubtful ?? []
    this.#doubtful = undefined
    for (const { raw } of tokens) this.#giveText(raw)
  }

  /** The line or the reply is over and the backtick stands alone: the marks count. */
  #settleDoubt(): void {
    const tokens = this.#doubtful
    if (!tokens) return
    if (this.#place.place() !== "inline-code") return this.#settleCode()
    this.#doubtful = undefined
    this.#place.leaveInline()
    for (const token of tokens) this.#take(token)
  }

  #showText(text: string, isMention = false): void {
    if (!isMention && text.includes("\n")) this.#mentionsTag = false
    if (!this.#hasText && !this.#hasBlock) {
      this.#lead += text
      if (!this.#isLeadOpen()) this.#showLead()
      return
    }
    this.#place.feed(text)
    this.#giveText(text)
  }

  /** Whether the first letters of the reply may still become the beginning of bare channels. */
  #isLeadOpen(): boolean {
    const word = this.#lead.trimStart()
    if (word.length <= bareStart.length) return bareStart.startsWith(word) && this.#lead.length <= maxLeadLength
    if (!word.startsWith(bareStart) || !/[A-Z"']/.test(word.charAt(bareStart.length))) return false
    const state: State = { name: "bare", held: [], tail: "" }
    this.#state = state
    const lead = this.#lead
    this.#lead = ""
    this.#takeBare(lead, state)
    return true
  }

  #showLead(): void {
    const text = this.#lead
    this.#lead = ""
    this.#place.feed(text)
    this.#giveText(text)
  }

  #giveText(text: string): void {
    const isFresh = !this.#hasText && this.#hasBlock
    const dropsSpace = isFresh || (this.#isBehindBlock && this.#dropsSpace)
    const shown = dropsSpace ? text.trimStart() : text
    if (text.trim() !== "") {
      this.#hasText = true
      this.#isBehindBlock = false
    }
    this.#give("text", shown)
  }

  // Reasoning

  #endBlock(): void {
    this.#state = { name: "text" }
    this.#place = new MarkdownPlace()
    this.#lead = ""
    this.#mentionsTag = false
    this.#hasBlock = true
    this.#isBehindBlock = true
  }

  #beginHeader(mark: string, wasHidden: boolean): void {
    this.#state = { name: "header", mark, written: "", wasHidden }
  }

  #takeInHeader(token: Token, state: State & { name: "header" }): void {
    if (token.mark === "message") return this.#endHeader(state.written)
    if (token.mark === "end") return this.#endBlock()
    if (token.mark !== undefined) {
      state.written += " "
      return
    }
    const lineEnd = token.raw.indexOf("\n")
    state.written += lineEnd < 0 ? token.raw : token.raw.slice(0, lineEnd)
    const word = state.written.trimStart().toLowerCase()
    if (!headerWords.some((known) => known.startsWith(word) || word.startsWith(known))) {
      // The reply speaks of the mark.
      this.#state = { name: state.wasHidden ? "channel" : "text" }
      this.#take({ raw: state.mark + state.written })
    } else if (lineEnd >= 0 || word.length > maxHeaderLength) this.#endHeader(state.written)
    if (lineEnd >= 0) this.#take({ raw: token.raw.slice(lineEnd) })
  }

  #endHeader(header: string): void {
    this.#endBlock()
    if (hiddenChannel.test(header)) this.#state = { name: "channel" }
    if (header.length > maxHeaderLength) this.#take({ raw: header })
  }

  #takeInLabel(token: Token, state: State & { name: "label" }): void {
    if (token.mark === "close") return this.#endBlock()
    const lineEnd = token.raw.indexOf("\n")
    state.written += lineEnd < 0 ? token.raw : token.raw.slice(0, lineEnd)
    if (lineEnd < 0 && state.written.length <= maxHeaderLength) return
    this.#endBlock()
    if (hiddenChannel.test(state.written)) this.#state = { name: "block" }
    if (lineEnd < 0) this.#take({ raw: state.written })
    else this.#take({ raw: token.raw.slice(lineEnd + 1) })
  }

  // Not decided yet

  #takeUndecided(token: Token, state: State & { name: "undecided" }): void {
    const { mark, raw } = token
    if (mark === "message" || mark === "end" || mark === "noise") return
    const isOpening = mark === "open" || mark === "open-at-start"
    if (mark === undefined || (isOpening && !state.isBlank)) {
      state.held.push(raw)
      state.isBlank &&= raw.trim() === ""
      return
    }
    if (!state.isBlank) this.#give("reasoning", state.held.join(""))
    this.#endBlock()
    if (mark !== "close") this.#take(token)
  }

  #takeBare(text: string, state: State & { name: "bare" }): void {
    const seen = state.tail + text
    const at = seen.indexOf(bareEnd)
    state.held.push(text)
    if (at < 0) {
      state.tail = seen.slice(1 - bareEnd.length)
      return
    }
    const held = state.held.join("")
    const end = held.length - seen.length + at
    this.#give("reasoning", held.slice(held.indexOf(bareStart) + bareStart.length, end))
    this.#endBlock()
    this.#take({ raw: held.slice(end + bareEnd.length) })
  }
}
