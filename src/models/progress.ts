// What stands already of a step that is being tried, and what a person has seen of it. When a try ends in a fault, what
// was only shown is taken back, what was sent for good is gone on from, and that is said. One for all tries of a step,
// those of its fallbacks too.
import type { ModelMessage, ModelReply, ModelRequest, ReplayPart } from "./contract.ts"

const wentOn = "\n\n(The model broke off here and goes on below.)\n\n"
const goOn =
  "[A fault has cut your reply here; the person has read it so far. Go on exactly where it stopped, without repeating anything.]"

export class Progress {
  readonly #asked: ModelRequest
  /** Behind the conversation: what this step has said already, and what it is asked about that. */
  #behind: ModelMessage[] = []
  /** Words of the reply that stand already, in front of what the next try says. All of them have been streamed. */
  #before = ""
  #hasStreamed = false

  constructor(request: ModelRequest) {
    this.#asked = request
  }

  get signal(): AbortSignal {
    return this.#asked.signal
  }

  get usedFor(): ModelRequest["usedFor"] {
    return this.#asked.usedFor
  }

  /** The request of the next try. */
  get request(): ModelRequest {
    const { onDelta } = this.#asked
    const messages = this.#behind.length === 0 ? this.#asked.messages : [...this.#asked.messages, ...this.#behind]
    if (!onDelta) return { ...this.#asked, messages }
    return {
      ...this.#asked,
      messages,
      onDelta: (delta) => {
        this.#hasStreamed = true
        onDelta(delta)
      },
      // The try goes on, but its words so far were none: what was sent of them stands in front of the rest.
      onRestart: () => {
        const seen = this.#takeBack()
        if (seen !== undefined) this.#stand(seen, "\n\n")
        return this.#before
      },
    }
  }

  /** The last try is void; the next one is asked the same, or to go on from what a person has been sent. */
  restart(): void {
    const seen = this.#takeBack()
    if (seen === undefined) return
    this.#stand(seen, wentOn)
    this.#behind = [{ role: "assistant", text: seen, toolCalls: [] }, ask(goOn)]
  }

  /** All tries so far are void, continued ones too: another model begins anew. */
  startOver(): void {
    const before = this.#before
    this.#behind = []
    this.#before = ""
    if (before !== "") this.#hasStreamed = true
    this.restart()
  }

  /** The reply stands and is gone on with; `words` say why. Nothing of it stands where it has no words. */
  continueBehind(reply: ModelReply, words: string): void {
    const said = reply.text.slice(this.#before.length)
    if (said.trim() === "") {
      const seen = this.#takeBack()
      if (seen !== undefined) this.#stand(seen, "")
    } else {
      this.#hasStreamed = false
      this.#behind.push({
        role: "assistant",
        text: said,
        toolCalls: [],
        ...(reply.replay && this.#before === "" ? { replay: reply.replay } : {}),
      })
      this.#before = reply.text
    }
    this.#behind.push(ask(words))
  }

  /** Nobody goes on with the reply: its words, and what a person has been sent for good behind them. */
  endWith({ text }: ModelReply): string {
    const seen = this.#asked.onRestart?.() ?? ""
    if (seen.length > text.length) return seen
    const again = text.slice(seen.length)
    if (again !== "") this.#asked.onDelta?.({ kind: "text", text: again })
    return text
  }

  /** The reply with what stood before it. Thinking comes first in it, as providers want a message that calls tools. */
  whole(reply: ModelReply): ModelReply {
    if (this.#before === "") return reply
    const { replay, ...rest } = reply
    const whole: ModelReply = { ...rest, text: this.#before + reply.text }
    if (!replay) return whole
    const first = replay.parts.findIndex((part) => part.type !== "reasoning")
    const thought = replay.parts.slice(0, Math.max(0, first))
    const stood: ReplayPart = { type: "text", length: this.#before.length }
    const parts = [...thought, stood, ...replay.parts.slice(thought.length)]
    return { ...whole, replay: { source: replay.source, parts } }
  }

  /** What a person has been sent for good of the last try; undefined when all that was streamed of it is gone. */
  #takeBack(): string | undefined {
    if (!this.#hasStreamed) return undefined
    this.#hasStreamed = false
    const seen = this.#asked.onRestart?.() ?? ""
    if (seen.length > this.#before.length) return seen
    // What stood before the try stays, and is shown again.
    const again = this.#before.slice(seen.length)
    if (again !== "") this.#asked.onDelta?.({ kind: "text", text: again })
    return undefined
  }

  #stand(seen: string, separator: string): void {
    this.#before = seen + separator
    if (separator !== "") this.#asked.onDelta?.({ kind: "text", text: separator })
  }
}

function ask(words: string): ModelMessage {
  return { role: "user", content: [{ type: "text", text: words }] }
}
