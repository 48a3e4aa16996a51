// Files for a page: given to a file input at once, or to the next file chooser that the page opens.
import { AppError, type Background, type Clock } from "../../kernel/index.ts"
import { objectIn, type World } from "./frames.ts"
import type { CdpSession } from "../cdp/index.ts"

interface ChooserEvent {
  frameId: string
  mode: "selectSingle" | "selectMultiple"
  backendNodeId?: number
}

/** The tab whose choosers are answered. */
export interface ChooserTab {
  readonly session: CdpSession
  readonly closed: AbortSignal
  readonly isOpen: boolean
}

export interface ArmOptions {
  timeoutMs: number
  /** Asked when the chooser opens: the files may have been swapped since. */
  files(): Promise<string[]>
  /** Whether the frame that opens it may have them: another page may be in the tab by then. Unset: every one. */
  mayHave?: ((frameId: string) => boolean) | undefined
  background: Background
  clock: Clock
}

/** The next chooser of a tab gets the files; arming again replaces what was armed before. */
export class ArmedChooser {
  #disarm: (() => Promise<void>) | undefined

  /** Choosers of the page are its own affair again. */
  async disarm(): Promise<void> {
    await this.#disarm?.()
  }

  async arm(tab: ChooserTab, options: ArmOptions): Promise<void> {
    const before = this.#disarm
    const end = new AbortController()
    const unlisten = tab.session.on("Page.fileChooserOpened", (event: ChooserEvent) => {
      options.background.run("file chooser", async () => {
        await disarm()
        if (options.mayHave?.(event.frameId) === false) return
        await giveFiles(tab, event, await options.files())
      })
    })
    const disarm = async () => {
      if (end.signal.aborted) return
      end.abort()
      unlisten()
      if (this.#disarm === disarm) this.#disarm = undefined
      await tab.session.send("Page.setInterceptFileChooserDialog", { enabled: false })
    }
    // From now on, not when those before it have ended: of two that arm at the same time the later one counts.
    this.#disarm = disarm
    try {
      await before?.()
      if (!end.signal.aborted) await tab.session.send("Page.setInterceptFileChooserDialog", { enabled: true })
    } catch (error) {
      // Whoever is told that it failed gives no files to a chooser of later.
      disarm().catch(() => undefined)
      throw error
    }
    options.background.run("file chooser limit", async () => {
      const ended = AbortSignal.any([end.signal, tab.closed])
      await options.clock.sleep(options.timeoutMs, ended).catch(() => undefined)
      if (tab.isOpen) await disarm()
    })
  }
}

async function giveFiles(tab: ChooserTab, event: ChooserEvent, files: string[]): Promise<void> {
  if (event.backendNodeId === undefined) return
  const given = event.mode === "selectSingle" ? files.slice(0, 1) : files
  await tab.session.send("DOM.setFileInputFiles", { files: given, backendNodeId: event.backendNodeId })
}

/** Sets the files of the input itself, without a chooser. `expression` gives the input in the world. */
export async function setInputFiles(
  world: World,
  expression: string,
  files: string[],
  signal: AbortSignal,
): Promise<void> {
  const objectId = await objectIn(world, expression, signal)
  try {
    await world.session.send("DOM.setFileInputFiles", { files, objectId }, { signal })
  } catch (error) {
    throw new AppError("bad-request", "The element is not a file input that takes these files", { cause: error })
  }
}
