// What a person has seen of a step that is being tried: when a try ends in a fault, what was only shown is taken back,
// and what was sent for good is gone on from, and said.
import type { ModelMessage, ModelReply, ModelRequest } from "./contract.ts"

const wentOn = "\n\n(The model broke off here and goes on below.)\n\n"
const goOn =
  "[A fault has cut your reply here; the person has read it so far. Go on exactly where it stopped, without repeating anything.]"

export class Progress {
  readonly #asked: ModelRequest
  /** Behind the conversation: what this step has said already, and what it is asked about that. */
  #behind: ModelMessage[] = []
  /** Words of the reply that stand already, in front of what the next try says. */
  #before = ""
  #hasStreamed = false

  constructor(request: ModelRequest) {
    this.#asked = request
  }

  /** The request of the next try. */
  get request(): ModelRequest {
    const { onDelta, onRestart } = this.#asked
    if (!onDelta) return { ...this.#asked, messages: this.#messages }
    return {
      ...this.#asked,
      messages: this.#messages,
      onDelta: (delta) => {
        this.#hasStreamed = true
        onDelta(delta)
      },
      ...(onRestart ? { onRestart } : {}),
    }
  }

  get #messages(): ModelMessage[] {
    return this.#behind.length === 0 ? this.#asked.messages : [...this.#asked.messages, ...this.#behind]
  }

  /** The last try is void. */
  restart(): void {
    if (!this.#hasStreamed) return
    this.#hasStreamed = false
    const seen = this.#asked.onRestart?.() ?? ""
    this.#behind = []
    this.#before = ""
    if (seen.trim() === "") return
    this.#before = seen + wentOn
    this.#asked.onDelta?.({ kind: "text", text: wentOn })
    this.#behind = [{ role: "assistant", text: seen, toolCalls: [] }, ask(goOn)]
  }

  /** The reply with what stood before it. */
  whole(reply: ModelReply): ModelReply {
    if (this.#before === "") return reply
    const { replay, ...rest } = reply
    const whole: ModelReply = { ...rest, text: this.#before + reply.text }
    if (!replay) return whole
    const parts = [{ type: "text" as const, length: this.#before.length }, ...replay.parts]
    return { ...whole, replay: { source: replay.source, parts } }
  }

  /** Goes on behind a reply that its provider has ended too early; `words` say why. */
  continueWith(reply: ModelReply | undefined, words: string): Progress {
    const next = new Progress(this.#asked)
    next.#before = this.#before
    next.#hasStreamed = this.#hasStreamed
    next.#behind = [...this.#behind]
    if (reply) {
      const { text, replay } = reply
      next.#behind.push({ role: "assistant", text, toolCalls: [], ...(replay ? { replay } : {}) })
    }
    next.#behind.push(ask(words))
    return next
  }
}

function ask(words: string): ModelMessage {
  return { role: "user", content: [{ type: "text", text: words }] }
}
