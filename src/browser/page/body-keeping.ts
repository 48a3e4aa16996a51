// The browser keeps the bodies of answers only while somebody waits for one: they cost memory.
import type { CdpSession } from "../cdp/index.ts"

const bufferBytes = 20 * 1024 * 1024

/** Who waits in the processes of a tab: the browser keeps bodies only while somebody does. */
export class BodyKeeping {
  readonly #waiting = new Map<CdpSession, number>()

  /** Turns the network events of a process on. */
  async watch(session: CdpSession, signal: AbortSignal): Promise<void> {
    await keep(session, this.#waiting.has(session) ? bufferBytes : 0, signal)
  }

  async begin(session: CdpSession, signal: AbortSignal): Promise<void> {
    this.#waiting.set(session, (this.#waiting.get(session) ?? 0) + 1)
    await keep(session, bufferBytes, signal)
  }

  /** Its answer is not waited for: a process that hangs would hold up what another one has given. */
  end(session: CdpSession): void {
    const others = (this.#waiting.get(session) ?? 1) - 1
    if (others > 0) {
      this.#waiting.set(session, others)
      return
    }
    this.#waiting.delete(session)
    // A tab that was closed meanwhile keeps nothing either.
    keep(session, 0).catch(() => undefined)
  }
}

async function keep(session: CdpSession, bytes: number, signal?: AbortSignal): Promise<void> {
  const sizes = { maxTotalBufferSize: bytes, maxResourceBufferSize: bytes }
  await session.send("Network.enable", sizes, { signal })
}
