// Answers that go on for hours: whoever listens was let in once, by a token or a sign-in that may be taken back meanwhile. What
// let them in is asked about before each piece, and now and then while nothing comes.

const askEveryMs = 1_000

/** The stream, ended as soon as `holds` says no. */
export function heldStream(
  source: ReadableStream<Uint8Array>,
  holds: () => boolean,
  everyMs = askEveryMs,
): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  let timer: NodeJS.Timeout | undefined
  const leave = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    clearInterval(timer)
    controller.close()
    await reader.cancel()
  }
  let isOver = false
  const ask = (controller: ReadableStreamDefaultController<Uint8Array>): boolean => {
    if (!isOver && !holds()) {
      isOver = true
      // Nobody is left who could be told that the source could not be cancelled.
      leave(controller).catch(() => undefined)
    }
    return !isOver
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        timer = setInterval(() => ask(controller), everyMs)
        timer.unref()
      },
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          isOver = true
          clearInterval(timer)
          throw error
        })
        if (!ask(controller)) return
        if (!done) return controller.enqueue(value)
        isOver = true
        clearInterval(timer)
        controller.close()
      },
      async cancel(reason) {
        isOver = true
        clearInterval(timer)
        await reader.cancel(reason)
      },
    },
    // What waits stays with the source, which knows how much of it there may be.
    { highWaterMark: 0 },
  )
}
