// Where in a Markdown text a stream stands: at the start of a line, inside code, or elsewhere. As much of Markdown as
// it takes to tell a tag that a model emits from one that it explains.

export type Place = "line-start" | "in-line" | "inline-code" | "fence"

interface Run {
  character: string
  length: number
  isFirstOnLine: boolean
}

export class MarkdownPlace {
  #fence: { character: string; length: number } | undefined
  /** The line that opened the fence: a backtick in it means that it was no fence. */
  #isOpeningLine = false
  /** A closing fence, if nothing but space follows it. */
  #mayClose = false
  /** Backticks that opened inline code; 0 outside. */
  #inline = 0
  #ignoresInline = false
  #run: Run | undefined
  /** Spaces so far on this line, -1 once anything else stood there. */
  #indent = 0

  feed(text: string): void {
    let from = 0
    const specials = /[`~\n]/g
    for (let match = specials.exec(text); match; match = specials.exec(text)) {
      this.#other(text.slice(from, match.index))
      from = match.index + 1
      if (match[0] === "\n") this.#newLine()
      else this.#tick(match[0])
    }
    this.#other(text.slice(from))
  }

  /** Where a mark stands that comes next. */
  place(): Place {
    this.#endRun()
    if (this.#mayClose) this.#closeFence()
    if (this.#fence) return "fence"
    if (this.#inline > 0) return "inline-code"
    return this.#indent >= 0 && this.#indent <= 3 ? "line-start" : "in-line"
  }

  /** The backtick before was not the beginning of code: it is not closed on its line, nor is any other taken for one. */
  leaveInline(): void {
    this.#inline = 0
    this.#ignoresInline = true
  }

  #other(text: string): void {
    if (text === "") return
    this.#endRun()
    const spaces = text.search(/[^ \t\r>]/)
    if (this.#mayClose && spaces >= 0) this.#mayClose = false
    if (this.#indent < 0) return
    if (spaces >= 0) this.#indent = -1
    else for (const character of text) this.#indent += character === "\t" ? 4 : 1
  }

  #tick(character: string): void {
    if (this.#run?.character === character) {
      this.#run.length += 1
      return
    }
    this.#endRun()
    this.#run = { character, length: 1, isFirstOnLine: this.#indent >= 0 }
    this.#indent = -1
  }

  #endRun(): void {
    const run = this.#run
    if (!run) return
    this.#run = undefined
    if (this.#fence) this.#endRunInFence(run, this.#fence)
    else if (run.length >= 3 && run.isFirstOnLine) {
      this.#fence = run
      this.#isOpeningLine = true
    } else if (run.character === "`" && !this.#ignoresInline) {
      if (this.#inline === 0) this.#inline = run.length
      else if (this.#inline === run.length) this.#inline = 0
    }
  }

  #endRunInFence(run: Run, fence: { character: string; length: number }): void {
    if (this.#isOpeningLine && run.character === "`" && fence.character === "`") this.#closeFence()
    else {
      this.#mayClose = run.isFirstOnLine && run.character === fence.character && run.length >= fence.length
    }
  }

  #closeFence(): void {
    this.#fence = undefined
    this.#mayClose = false
    this.#isOpeningLine = false
  }

  #newLine(): void {
    this.#endRun()
    if (this.#mayClose) this.#closeFence()
    this.#isOpeningLine = false
    this.#inline = 0
    this.#ignoresInline = false
    this.#indent = 0
  }
}
