// Reads one HTTP/1.1 response from the bytes of a connection: head, then a body by length, by chunks, or until the
// end. Knows only what our own servers send (no trailers' meaning, no compression), and every size has a bound.

export interface HttpResponse {
  status: number
  /** Names in lower case. */
  headers: ReadonlyMap<string, string>
  body: Buffer
}

const maxHeadBytes = 65_536

type BodyKind = { kind: "length"; left: number } | { kind: "chunks"; left: number; last: boolean } | { kind: "rest" }

export class ResponseReader {
  readonly #maxBodyBytes: number
  #pending: Buffer = Buffer.alloc(0)
  #status = 0
  #headers = new Map<string, string>()
  #body: BodyKind | undefined
  #parts: Buffer[] = []
  #size = 0
  #done = false

  constructor(maxBodyBytes: number) {
    this.#maxBodyBytes = maxBodyBytes
  }

  /** Takes bytes; gives the response as soon as it is whole. Throws on what is not HTTP or too large. */
  push(bytes: Buffer): HttpResponse | undefined {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes])
    if (this.#body === undefined && !this.#readHead()) return undefined
    if (this.#body?.kind === "chunks") this.#readChunks(this.#body)
    else this.#readPlain()
    return this.#done ? this.#response() : undefined
  }

  /** The connection has ended: complete only when the body had no stated length. */
  end(): HttpResponse | undefined {
    return this.#body?.kind === "rest" ? this.#response() : undefined
  }

  #readHead(): boolean {
    for (;;) {
      const end = this.#pending.indexOf("\r\n\r\n")
      if (end > maxHeadBytes || (end < 0 && this.#pending.length > maxHeadBytes))
        throw new Error("its head is too large")
      if (end < 0) return false
      const [first = "", ...lines] = this.#pending.toString("latin1", 0, end).split("\r\n")
      this.#pending = this.#pending.subarray(end + 4)
      const status = /^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1]
      if (status === undefined) throw new Error("it does not speak HTTP")
      this.#status = Number(status)
      // 1xx are announcements; the response is still to come.
      if (this.#status < 200) continue
      for (const line of lines) {
        const colon = line.indexOf(":")
        if (colon < 1) throw new Error("it sent a malformed header")
        this.#headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
      }
      this.#body = this.#bodyKind()
      return true
    }
  }

  #bodyKind(): BodyKind {
    if (this.#status === 204 || this.#status === 304) return { kind: "length", left: 0 }
    const coding = this.#headers.get("transfer-encoding")
    if (coding !== undefined) {
      if (coding.toLowerCase() !== "chunked") throw new Error(`it used the transfer coding "${coding}"`)
      return { kind: "chunks", left: 0, last: false }
    }
    const length = this.#headers.get("content-length")
    if (length === undefined) return { kind: "rest" }
    if (!/^\d{1,15}$/.test(length)) throw new Error("it sent a malformed length")
    if (Number(length) > this.#maxBodyBytes) throw new Error("its answer is too large")
    return { kind: "length", left: Number(length) }
  }

  #readPlain(): void {
    const body = this.#body
    if (body?.kind === "length") {
      const taken = Math.min(body.left, this.#pending.length)
      this.#keep(taken)
      body.left -= taken
      this.#done = body.left === 0
      return
    }
    this.#keep(this.#pending.length)
  }

  #readChunks(body: { left: number; last: boolean }): void {
    while (!this.#done) {
      if (body.left > 2) {
        const taken = Math.min(body.left - 2, this.#pending.length)
        this.#keep(taken)
        body.left -= taken
      }
      if (body.left > 0) {
        // The line end behind a chunk.
        if (body.left > 2 || this.#pending.length < body.left) return
        this.#pending = this.#pending.subarray(body.left)
        body.left = 0
      }
      const end = this.#pending.indexOf("\r\n")
      if (end < 0 && this.#pending.length > 1024) throw new Error("it sent a malformed chunk")
      if (end < 0) return
      const line = this.#pending.toString("latin1", 0, end)
      this.#pending = this.#pending.subarray(end + 2)
      if (body.last) {
        this.#done = line === ""
        continue
      }
      const size = /^([0-9a-fA-F]{1,8})(?:;|\s*$)/.exec(line)?.[1]
      if (size === undefined) throw new Error("it sent a malformed chunk")
      body.left = Number.parseInt(size, 16) === 0 ? 0 : Number.parseInt(size, 16) + 2
      body.last = body.left === 0
    }
  }

  #keep(bytes: number): void {
    if (bytes === 0) return
    this.#size += bytes
    if (this.#size > this.#maxBodyBytes) throw new Error("its answer is too large")
    this.#parts.push(this.#pending.subarray(0, bytes))
    this.#pending = this.#pending.subarray(bytes)
  }

  #response(): HttpResponse {
    const body = this.#parts.length === 1 && this.#parts[0] ? this.#parts[0] : Buffer.concat(this.#parts)
    return { status: this.#status, headers: this.#headers, body }
  }
}
