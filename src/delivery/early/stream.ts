// Early parts of an answer (`blockStreaming`): deltas -> parts -> outbox rows while the model still writes. A part is one
// transaction with its own record; what the end of the turn sends is whatever the records leave over.
import { isSilence } from "../../agent/silence.ts"
import type { TurnInput, TurnObserver, TurnStep, TurnView } from "../../agent/turn-input.ts"
import type { Background, Log } from "../../kernel/index.ts"
import type { Route } from "../../sessions/route.ts"
import type { Store, Write } from "../../store/index.ts"
import { hasAnswered, prefixed, rowsOf } from "../answered.ts"
import type { ChannelSender, EarlyReplies, Reply } from "../contract.ts"
import { parseReply } from "../reply.ts"
import { type Occasion, nextCut, partText } from "./cut.ts"
import { type Fence, openFence } from "../fence.ts"
import { type EarlyPart, earlyParts, sentLength, withRecord, withReference } from "./record.ts"

export interface EarlyOptions {
  store: Store
  senders: () => ReadonlyMap<string, ChannelSender>
  responsePrefix: (input: TurnInput) => string
  background: Background
  log: Log
}

/** Watches a turn and sends its answer in parts; undefined where that is not wanted. */
export function streamReply(
  options: EarlyOptions,
  input: TurnInput,
  runId: string,
  view: TurnView,
): TurnObserver | undefined {
  const { route } = input
  if (route === null || input.purpose !== "chat") return undefined
  const sender = options.senders().get(route.channel)
  const size = sender?.earlyReplies?.(route)
  return sender && size ? new ReplyStream({ ...options, input, route, runId, view, sender, size }) : undefined
}

interface StreamParts extends EarlyOptions {
  input: TurnInput
  route: Route
  runId: string
  view: TurnView
  sender: ChannelSender
  size: EarlyReplies
}

class ReplyStream implements TurnObserver {
  readonly #parts: StreamParts
  #step = 0
  /** The step under way is written from words of others, too. */
  #isTainted = false
  #text = ""
  #thinking = ""
  /** How much of the text is written to the outbox, or about to be. */
  #covered = 0
  /** The block of code that the rest begins in. */
  #open: Fence | undefined
  /** Sent by an earlier attempt, which a crash has cut. */
  readonly #earlier: EarlyPart[]
  #writing: Promise<void> = Promise.resolve()
  #hasEnded = false
  #idle: NodeJS.Timeout | undefined

  constructor(parts: StreamParts) {
    this.#parts = parts
    const job = jobOf(parts.store, parts.runId)
    this.#earlier = job === undefined ? [] : earlyParts(rowsOf(parts.store.handle, job))
  }

  onStep({ number, before, isTainted = false }: TurnStep): void {
    if (before !== undefined) {
      // What was streamed of it live is its beginning; after a restart nothing was.
      if (this.#step !== number - 1 || this.#text === "") this.#begin(number - 1)
      this.#text = before
      this.#take("complete")
    }
    this.#isTainted = isTainted
    this.#begin(number)
  }

  #begin(step: number): void {
    this.#step = step
    this.#text = ""
    this.#covered = 0
    this.#open = undefined
  }

  onDelta({ kind, text }: { kind: "text" | "reasoning"; text: string }): void {
    clearTimeout(this.#idle)
    if (this.#hasEnded) return
    if (kind === "reasoning") {
      if (this.#parts.view.reasoning === "on") this.#thinking += text
      return
    }
    this.#text += text
    this.#take("growing")
    this.#idle = setTimeout(() => this.#take("idle"), this.#parts.size.idleMs)
    this.#idle.unref()
  }

  onRestart(): string {
    clearTimeout(this.#idle)
    this.#text = this.#text.slice(0, this.#covered)
    return this.#text
  }

  end(): void {
    this.#hasEnded = true
    clearTimeout(this.#idle)
  }

  #take(occasion: Occasion): void {
    if (isSilence(this.#text) || !this.#skipEarlier()) return
    for (;;) {
      const rest = this.#text.slice(this.#covered)
      const cut = nextCut(rest, this.#open, this.#parts.size, occasion)
      if (cut === undefined) return
      const part = { step: this.#step, from: this.#covered, text: rest.slice(0, cut) }
      const reply = this.#reply(part.text)
      // Nothing but a tag or white space goes with what follows.
      if (reply.text === "") return
      this.#covered += cut
      this.#open = openFence(part.text, this.#open)
      this.#write(part, reply)
    }
  }

  /** Written again after a restart: what was sent then is not sent anew. False while it only says the same again. */
  #skipEarlier(): boolean {
    if (this.#covered > 0 || this.#earlier.every(({ step }) => step !== this.#step)) return true
    const sent = sentLength(this.#earlier, this.#step, this.#text)
    if (sent === this.#text.length) return false
    this.#covered = sent
    this.#open = openFence(this.#text.slice(0, sent))
    return true
  }

  #reply(part: string): Reply {
    const { reply } = parseReply({
      text: partText(part, this.#open),
      allowedMedia: new Set(),
      currentMessageId: this.#parts.route.messageId,
    })
    delete reply.asVoice
    if (this.#isTainted) reply.noPreview = true
    return reply
  }

  /** One after the other. Once the turn has ended nothing new is begun: its last transaction sends what is left over. */
  #write(part: EarlyPart, reply: Reply): void {
    const { store, background, log, runId } = this.#parts
    const thinking = this.#thinking
    const before = this.#writing
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#writing = promise
    background.run("early part", async () => {
      try {
        await before
        if (this.#hasEnded) return
        const rows = await store.write(async (write) => this.#add(write, part, reply, thinking))
        log.debug({ run: runId, step: part.step, from: part.from, rows }, "part of the answer sent early")
      } catch (error) {
        this.end()
        log.warn({ run: runId, err: error }, "early parts given up: the answer follows at its end")
      } finally {
        resolve()
      }
    })
  }

  #add(write: Write, part: EarlyPart, reply: Reply, thinking: string): number {
    const { store, runId, sender, route, input, responsePrefix } = this.#parts
    const jobId = jobOf(store, runId)
    if (jobId === undefined) return 0
    const earlier = rowsOf(store.handle, jobId)
    const sent = earlyParts(earlier)
    // What has been begun is said to its end, whatever a tool has said since.
    if (hasAnswered(earlier, sender, route) && sent.every(({ step }) => step !== part.step)) return 0
    const isFirst = sent.length === 0
    const text = isFirst ? prefixed(reply.text, responsePrefix(input)) : reply.text
    const referring = withReference(reply, sent, { step: part.step, currentMessageId: route.messageId })
    const whole: Reply = { ...referring, text, ...(isFirst && thinking !== "" ? { reasoning: thinking } : {}) }
    const rows = withRecord(sender.plan(route, whole), part)
    for (const row of rows) write.addOutbox({ ...row, jobId })
    return rows.length
  }
}

function jobOf(store: Store, runId: string): number | undefined {
  const row = store.handle.prepare("select id from job where run_id = ?").get(runId) as { id: number } | undefined
  return row?.id
}
