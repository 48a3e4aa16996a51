// The floor: what one connection of the bench's own needs for the same work, by one function in the page or raw input.
import { WebSocket } from "ws"

/** A connection of the bench's own to one tab. */
export class RawTab {
  readonly #socket: WebSocket
  readonly #pending = new Map<number, (result: unknown) => void>()
  readonly #events = new Map<string, () => void>()
  #next = 1

  static async open(url: string): Promise<RawTab> {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject))
    return new RawTab(socket)
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket
    socket.on("message", (data) => {
      const message = JSON.parse(String(data)) as { id?: number; result?: unknown; method?: string }
      if (message.id === undefined) this.#events.get(message.method ?? "")?.()
      else this.#pending.get(message.id)?.(message.result)
    })
  }

  send(method: string, params: object = {}): Promise<unknown> {
    const id = this.#next++
    const { promise, resolve } = Promise.withResolvers<unknown>()
    this.#pending.set(id, resolve)
    this.#socket.send(JSON.stringify({ id, method, params }))
    return promise
  }

  next(event: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#events.set(event, resolve)
    return promise
  }

  async evaluate(expression: string): Promise<unknown> {
    const reply = (await this.send("Runtime.evaluate", { expression, returnByValue: true })) as {
      result: { value?: unknown }
    }
    return reply.result.value
  }

  close(): void {
    this.#socket.close()
  }
}

/** One visit of every element, with what a list of controls needs to know of each. */
export const walker = `(() => {
  let number = 0, text = ""
  const walk = document.createTreeWalker(document.body, 1)
  for (let element = walk.nextNode(); element; element = walk.nextNode()) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue
    const tag = element.localName
    if (tag === "a" || tag === "button") text += "- " + tag + " " + JSON.stringify(element.textContent) + " [ref=" + ++number + "]\\n"
    else if (getComputedStyle(element).cursor === "pointer") text += "- generic\\n"
  }
  return text
})()`

export async function rawClick(raw: RawTab): Promise<void> {
  const point = (await raw.evaluate(
    `(() => { const button = document.querySelectorAll("button")[1]; const box = button.getBoundingClientRect(); const x = box.x + 5, y = box.y + 5; return document.elementFromPoint(x, y) === button ? { x, y } : null })()`,
  )) as object
  const event = (type: string, more: object = {}) => raw.send("Input.dispatchMouseEvent", { type, ...point, ...more })
  const button = { button: "left", clickCount: 1 }
  await Promise.all([event("mouseMoved"), event("mousePressed", button), event("mouseReleased", button)])
}

/** All text of the first field is selected, then replaced; in between the browser must be waited for. */
export async function rawType(raw: RawTab, text: string): Promise<void> {
  await raw.evaluate(`(() => { const field = document.querySelector("input"); field.focus(); field.select() })()`)
  await raw.send("Input.insertText", { text })
}

export async function rawPicture(raw: RawTab): Promise<void> {
  await raw.send("Page.captureScreenshot", { format: "png" })
}

/** A tab in the background that has loaded the page, and is closed again. */
export async function rawOpen(raw: RawTab, port: number, url: string): Promise<void> {
  const { targetId } = (await raw.send("Target.createTarget", { url: "about:blank", background: true })) as {
    targetId: string
  }
  const tab = await RawTab.open(`ws://127.0.0.1:${port}/devtools/page/${targetId}`)
  await tab.send("Page.enable")
  const loaded = tab.next("Page.loadEventFired")
  await tab.send("Page.navigate", { url })
  await loaded
  tab.close()
  await raw.send("Target.closeTarget", { targetId })
}
