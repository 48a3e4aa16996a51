// The other end of a CDP connection, played by a test: it answers every command at once, but for those that the test holds
// back or refuses, and says of itself what the test has it say.
import { CdpConnection, type MessageError, type Transport } from "../../src/browser/cdp/index.ts"
import { Tabs, type TabsOptions } from "../../src/browser/page/tabs.ts"
import type { Tab } from "../../src/browser/page/tab.ts"
import { type AppError, createBackground, systemClock } from "../../src/kernel/index.ts"
import pino from "pino"

export interface Command {
  id: number
  method: string
  params: Record<string, unknown>
  sessionId?: string
}

/** Gives the result, or what comes of it; throws what the browser refuses. */
type Answer = (command: Command) => unknown

export class ScriptedBrowser {
  readonly connection: CdpConnection
  /** All that it was sent. */
  readonly commands: Command[] = []
  readonly #answers = new Map<string, Answer>()
  readonly #waiting = new Map<string, PromiseWithResolvers<Command>>()
  #say: (text: string) => void = () => undefined
  #sessions = 0

  /** `explain` as for the connection. */
  constructor(explain?: (error: MessageError) => AppError | undefined) {
    const transport = {
      bytesRead: 0,
      listen: ({ onMessage }: Parameters<Transport["listen"]>[0]) => (this.#say = onMessage),
      send: (text: string) => this.#receive(JSON.parse(text) as Command),
      ping: () => true,
      isGone: () => false,
      close: () => undefined,
    }
    this.connection = new CdpConnection(transport, undefined, explain)
    this.answer("Target.attachToTarget", () => ({ sessionId: `S${(this.#sessions += 1)}` }))
  }

  answer(method: string, answer: Answer): void {
    this.#answers.set(method, answer)
  }

  /** The next command of this name that comes. */
  next(method: string): Promise<Command> {
    const waiting = this.#waiting.get(method) ?? Promise.withResolvers<Command>()
    this.#waiting.set(method, waiting)
    return waiting.promise
  }

  /** How often it was sent. */
  count(method: string): number {
    return this.commands.filter((command) => command.method === method).length
  }

  event(method: string, params: object, sessionId?: string): void {
    this.#say(JSON.stringify({ method, params, ...(sessionId === undefined ? {} : { sessionId }) }))
  }

  /** Its tabs, with one that shows a page. */
  async open(options: Partial<TabsOptions> = {}): Promise<{ tabs: Tabs; tab: Tab }> {
    const background = createBackground(pino({ level: "silent" }))
    const log = pino({ level: "silent" })
    const own = { connection: this.connection, background, clock: systemClock, log, owned: false, headless: true }
    const tabs = new Tabs({ ...own, ...options })
    this.answer("Page.getFrameTree", () => ({
      frameTree: { frame: { id: "TAB", url: "https://a.example/", loaderId: "1" } },
    }))
    await tabs.start()
    const targetInfo = { targetId: "TAB", type: "page", title: "A", url: "https://a.example/" }
    this.event("Target.targetCreated", { targetInfo })
    return { tabs, tab: tabs.find("TAB") }
  }

  #receive(command: Command): void {
    this.commands.push(command)
    void this.#serve(command)
    const waiting = this.#waiting.get(command.method)
    this.#waiting.delete(command.method)
    waiting?.resolve(command)
  }

  async #serve(command: Command): Promise<void> {
    const { id, sessionId, method } = command
    const about = { id, ...(sessionId === undefined ? {} : { sessionId }) }
    try {
      const result = (await this.#answers.get(method)?.(command)) ?? {}
      this.#say(JSON.stringify({ ...about, result }))
    } catch (error) {
      this.#say(JSON.stringify({ ...about, error: { code: -32_000, message: (error as Error).message } }))
    }
  }
}
