// What whoever has a tab in hand is shown: records of one byte kind, four bytes length (big-endian) and content. Nothing is
// sent faster than it is taken: the browser draws the next picture when there is room for it.
import type { HandsState, HandsView, LiveHands } from "./contract.ts"

/** Kinds of records. */
export const record = { beat: 0, picture: 1, state: 2, over: 3 } as const

const headBytes = 5
const roomBytes = 256 * 1024
const beatMs = 10_000
const encoder = new TextEncoder()

export async function streamOf(hands: LiveHands): Promise<Response> {
  const viewer = new StreamViewer()
  try {
    viewer.onGone(await hands.watch(viewer))
  } catch (error) {
    viewer.end()
    throw error
  }
  const over = () => viewer.end()
  if (hands.ended.aborted) over()
  else hands.ended.addEventListener("abort", over, { once: true })
  return new Response(viewer.stream, {
    headers: { "content-type": "application/octet-stream", "x-accel-buffering": "no" },
  })
}

class StreamViewer implements HandsView {
  readonly stream: ReadableStream<Uint8Array>
  #controller!: ReadableStreamDefaultController<Uint8Array>
  #room: (() => void) | undefined
  #isOver = false
  #stop: (() => void) | undefined
  readonly #timer: NodeJS.Timeout

  constructor() {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        pull: () => this.#room?.(),
        cancel: () => this.#leave(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: roomBytes }),
    )
    this.#timer = setInterval(() => this.#put(record.beat, new Uint8Array()), beatMs)
    this.#timer.unref()
  }

  onGone(stop: () => void): void {
    this.#stop = stop
    if (this.#isOver) stop()
  }

  async frame(jpeg: Uint8Array): Promise<void> {
    this.#put(record.picture, jpeg)
    if (this.#isOver || (this.#controller.desiredSize ?? 0) > 0) return
    await new Promise<void>((resolve) => (this.#room = resolve))
  }

  state(state: HandsState): void {
    this.#put(record.state, encoder.encode(JSON.stringify(state)))
  }

  /** Nothing more comes: it was given back, or its time is over. */
  end(): void {
    if (this.#isOver) return
    this.#put(record.over, new Uint8Array())
    this.#leave()
    this.#controller.close()
  }

  #put(kind: number, content: Uint8Array): void {
    if (this.#isOver) return
    const chunk = new Uint8Array(headBytes + content.length)
    chunk[0] = kind
    new DataView(chunk.buffer).setUint32(1, content.length)
    chunk.set(content, headBytes)
    this.#controller.enqueue(chunk)
  }

  #leave(): void {
    this.#isOver = true
    clearInterval(this.#timer)
    this.#room?.()
    this.#stop?.()
  }
}
