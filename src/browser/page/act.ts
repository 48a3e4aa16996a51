// One action in a tab, and the wait for what it set off: a click on a link is done when the new page is there.
import { AppError } from "../../kernel/index.ts"
import type { ActRequest } from "../requests/index.ts"
import { click } from "./actions/click.ts"
import { drag } from "./actions/drag.ts"
import { evaluate } from "./actions/evaluate.ts"
import { fill, revealMs, select } from "./actions/fill.ts"
import { hover, scrollIntoView } from "./actions/hover.ts"
import type { Acting } from "./actions/mouse.ts"
import { press } from "./actions/press.ts"
import { scroll } from "./actions/scroll.ts"
import { slowKeyMs, type } from "./actions/type.ts"
import { wait } from "./actions/wait.ts"
import type { Dialog, OperationOptions, Tab } from "./tab.ts"
import { watchEffects } from "./watch-effects.ts"

/** What is done inside the page; closing a tab is the tabs' matter. */
export type PageAction = Exclude<ActRequest, { kind: "close" }>

export interface ActOutcome {
  /** A question that the page asks because of the action. */
  dialog?: Dialog
  /** The input was given, but the page had not come to rest when the time was up: it must not be given again. */
  settled?: false
  /** Of scroll: whether there was anything left to scroll. */
  scrolled?: boolean
  /** Of evaluate: what the code gave. */
  result?: unknown
  /** Of the page, where the input has set off nothing that could change it by now. */
  title?: string
}

export async function act(
  tab: Tab,
  request: PageAction,
  options: OperationOptions & Pick<Acting, "reveal">,
): Promise<ActOutcome> {
  const progress: Acting["progress"] = { sent: false, rested: false }
  const timeoutMs = options.timeoutMs + ownMs(request)
  try {
    return await tab.operate({ ...options, timeoutMs }, async (operation) => {
      tab.memory.doubt()
      const watch = watchEffects(tab)
      try {
        const result = await perform({ tab, operation, progress, reveal: options.reveal }, request)
        if (answered.has(request.kind)) tab.memory.expectAnswer(tab.clock.monotonic())
        const isCalm = request.kind !== "wait" && (await watch.settle(operation.signal, progress.rested))
        if (request.kind === "scroll") return { scrolled: result === true }
        if (request.kind === "evaluate") return { result }
        return isCalm && progress.title ? { title: progress.title } : {}
      } finally {
        watch.stop()
      }
    })
  } catch (error) {
    if (!progress.sent || !(error instanceof AppError)) throw error
    // The action was done, and the page answers it with a question, or by closing.
    const { dialog } = tab
    if (dialog && error.code === "dialog-open") return { dialog }
    if (!tab.isOpen && error.code === "tab-not-found") return {}
    if (error.code === "timeout" && oneInput.has(request.kind)) return { settled: false }
    throw error
  }
}

/** Done once their input has gone to the page, however long the page takes over it. */
const oneInput: ReadonlySet<PageAction["kind"]> = new Set(["click", "hover", "press", "type", "scroll"])

/** What pages show something for. */
const answered: ReadonlySet<PageAction["kind"]> = new Set(["click", "press", "type", "fill", "select", "drag", "hover"])

function perform(acting: Acting, request: PageAction): Promise<unknown> {
  const { tab, operation, progress } = acting
  switch (request.kind) {
    case "click":
      return click(tab, request, operation, progress)
    case "type":
      return type(tab, request, operation, progress)
    case "press":
      return press(tab, request, operation, progress)
    case "hover":
      return hover(acting, request)
    case "scrollIntoView":
      return scrollIntoView(acting, request)
    case "scroll":
      return scroll(acting, request)
    case "drag":
      return drag(acting, request)
    case "select":
      return select(acting, request)
    case "fill":
      return fill(acting, request)
    case "resize":
      return tab.overrides.set({ viewport: { width: request.width, height: request.height } }, operation.signal)
    case "wait":
      return wait(acting, request)
    case "evaluate":
      return evaluate(acting, request)
  }
}

/** The time that the keys themselves take, or that was asked for, is not part of the limit. */
function ownMs(request: PageAction): number {
  if (request.kind === "type" && request.slowly) return [...request.text].length * (slowKeyMs + 25)
  if (request.kind === "wait") return request.timeMs ?? 0
  if (request.kind === "fill" && request.fields.some(({ secret }) => secret !== undefined)) return revealMs
  return request.kind === "press" ? request.delayMs : 0
}
