// One node that is connected: its link, what it offers, and the calls that it has not answered.
import { join } from "node:path"
import { AppError, type Ids, describeError } from "../../kernel/index.ts"
import { removeFile } from "../link/disk.ts"
import { type Link, type Transfer, lost } from "../link/link.ts"
import type { FileNotice, Offers } from "../protocol.ts"
import { fromNode } from "./messages.ts"

export interface Call {
  command: string
  params: unknown
  files: readonly { path: string; field: string; name: string }[]
  /** The fields whose files the caller takes; all others are refused. */
  takes: readonly string[]
  signal?: AbortSignal | undefined
}

export interface Answer {
  status: number
  body: unknown
  /** Written into the folder for what comes in; whoever has called owns them. */
  files: { field: string; path: string; name: string; bytes: number }[]
}

interface Waiting {
  call: Call
  /** Its files may still be on their way. */
  isAnswered: boolean
  resolve(answer: Answer): void
  reject(error: AppError): void
}

export interface NodeSessionOptions {
  id: string
  offers: Offers
  /** Where files come in. */
  folder: string
  ids: Ids
  onOffers(): void
}

export class NodeSession {
  readonly id: string
  readonly since: number
  readonly #options: NodeSessionOptions
  readonly #calls = new Map<number, Waiting>()
  /** Calls that nobody waits for any more, and that may still be answered. */
  readonly #givenUp = new Set<number>()
  #link: Link | undefined
  #lastCall = 0
  offers: Offers

  constructor(options: NodeSessionOptions, now: number) {
    this.id = options.id
    this.since = now
    this.offers = options.offers
    this.#options = options
  }

  /** The link is made with this session's functions, so it comes after it. */
  use(link: Link): void {
    this.#link = link
  }

  get isBusy(): boolean {
    return this.#calls.size > 0
  }

  get transfers(): readonly Transfer[] {
    return this.#link?.transfers ?? []
  }

  /** Throws for what makes no sense. */
  receive(message: Record<string, unknown>): void {
    const parsed = fromNode.parse(message)
    if (parsed.type === "offers") {
      const isNew = JSON.stringify(parsed.offers) !== JSON.stringify(this.offers)
      this.offers = parsed.offers
      if (isNew) this.#options.onOffers()
      return
    }
    const waiting = this.#calls.get(parsed.id)
    const isAsked = waiting ? !waiting.isAnswered : this.#givenUp.delete(parsed.id)
    if (!isAsked) throw new Error("an answer that nobody has asked for")
    if (waiting) waiting.isAnswered = true
    void this.#finish(parsed)
  }

  async call(call: Call): Promise<Answer> {
    const link = this.#link
    if (!link?.isOpen) throw lost()
    call.signal?.throwIfAborted()
    const id = ++this.#lastCall
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const announced = call.files.map(({ path, field, name }) => link.announce(path, { field, name, call: id }))
    this.#calls.set(id, { call, isAnswered: false, resolve, reject })
    link.send({
      type: "invoke",
      id,
      command: call.command,
      params: call.params,
      files: announced.map(({ notice }) => notice),
    })
    link.hurry()
    const onAbort = () => {
      link.send({ type: "cancel", id })
      this.#settle(id)?.reject(aborted(call.signal))
    }
    call.signal?.addEventListener("abort", onAbort, { once: true })
    for (const file of announced) {
      // An error of the way there is told by the answer, or by the end of the link, unless it comes first.
      file.start().catch((error: unknown) => this.#settle(id)?.reject(asNodeError(error)))
    }
    try {
      return await promise
    } finally {
      call.signal?.removeEventListener("abort", onAbort)
    }
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#calls.get(id)
    this.#calls.delete(id)
    if (waiting && !waiting.isAnswered) this.#givenUp.add(id)
    return waiting
  }

  async #finish({ id, status, body, files }: { id: number; status: number; body: unknown; files: FileNotice[] }) {
    const waiting = this.#calls.get(id)
    const link = this.#link
    if (!waiting || !link) {
      // Given up meanwhile.
      for (const { file } of files) link?.refuse(file, "nobody waits for it")
      return
    }
    const { takes, signal } = waiting.call
    const wanted = files.filter(({ field }) => takes.includes(field))
    for (const { file } of files.filter((each) => !wanted.includes(each))) link.refuse(file, "not asked for")
    const come: Answer["files"] = []
    await Promise.all(
      wanted.map(async (notice) => {
        const path = join(this.#options.folder, this.#options.ids.uuid())
        const onAbort = () => link.refuse(notice.file, "nobody waits for it")
        signal?.addEventListener("abort", onAbort, { once: true })
        try {
          await link.accept(notice, path, id)
          come.push({ field: notice.field, path, name: notice.name, bytes: notice.bytes })
        } catch (error) {
          const asked = this.#settle(id)
          asked?.reject(asNodeError(error))
          // Nobody is given the others without it.
          if (asked) for (const { file } of wanted) link.refuse(file, "nobody waits for it")
        } finally {
          signal?.removeEventListener("abort", onAbort)
        }
      }),
    )
    const asked = this.#settle(id)
    if (asked) return asked.resolve({ status, body, files: come })
    // One of them has failed, or it was given up when the last of them had just come.
    for (const { path } of come) await removeFile(path).catch(() => undefined)
  }

  /** The link is gone. */
  end(why: string | undefined): void {
    const error = lost()
    const told = why === undefined ? error : new AppError("node-lost", `${error.message}: ${why}`, hintOf(error))
    for (const { reject } of this.#calls.values()) reject(told)
    this.#calls.clear()
  }
}

function hintOf({ hint }: AppError): { hint?: string } {
  return hint === undefined ? {} : { hint }
}

function asNodeError(error: unknown): AppError {
  if (error instanceof AppError) return error
  return new AppError("node-failed", `A file did not come through: ${describeError(error)}`, { cause: error })
}

function aborted(signal: AbortSignal | undefined): AppError {
  const reason: unknown = signal?.reason
  return reason instanceof AppError ? reason : new AppError("aborted", "The call was stopped", { cause: reason })
}
