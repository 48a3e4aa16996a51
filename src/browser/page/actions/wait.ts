// act: wait. The conditions are met one after the other, each looked for again and again until the time is up; a page
// that navigates meanwhile is looked at anew.
import { AppError, describeError } from "../../../kernel/index.ts"
import type { WaitRequest } from "../../requests/index.ts"
import { callAgent, type Frame } from "../frames.ts"
import { matchesUrl } from "../url-pattern.ts"
import { runExpression } from "./evaluate.ts"
import type { Acting } from "./mouse.ts"

const pauseMs = 50
/** Our own word about what did not come must be earlier than the operation's limit. */
const marginMs = 80

const lifecycleNames = { load: "load", domcontentloaded: "DOMContentLoaded", networkidle: "networkIdle" } as const

export async function wait(acting: Acting, request: WaitRequest): Promise<void> {
  const { tab, operation } = acting
  const { text, textGone, selector, url, loadState, fn } = request
  if (request.timeMs !== undefined) await tab.clock.sleep(request.timeMs, operation.signal)
  if (text !== undefined) await until(acting, "the text to appear", () => inFrames(acting, "text", text))
  if (textGone !== undefined)
    await until(acting, "the text to go", async () => !(await inFrames(acting, "text", textGone)))
  if (selector !== undefined)
    await until(acting, "the selector to be visible", () => inFrames(acting, "visible", selector))
  if (url !== undefined) await until(acting, "the address", async () => matchesUrl(url, tab.url))
  if (loadState !== undefined)
    await until(acting, `the load state ${loadState}`, async () => tab.hasReached(lifecycleNames[loadState]))
  if (fn !== undefined) {
    await until(acting, "the function to be true", async () =>
      Boolean(await runExpression(tab.session, fn, operation.signal)),
    )
  }
}

async function until(acting: Acting, what: string, holds: () => Promise<boolean>): Promise<void> {
  const { tab, operation } = acting
  for (let lastError: unknown; ;) {
    try {
      if (await holds()) return
      lastError = undefined
    } catch (error) {
      if (!isPassing(error)) throw error
      lastError = error
    }
    if (tab.clock.monotonic() + pauseMs > operation.deadline - marginMs) {
      const last = lastError === undefined ? "" : ` (${describeError(lastError)})`
      throw new AppError("timeout", `Waited in vain for ${what}${last}`, {
        hint: "Take a snapshot to see what the page shows, or give a larger timeoutMs",
      })
    }
    await tab.clock.sleep(pauseMs, operation.signal)
  }
}

/** A page on its way to another one cannot be asked, and a function may fail until the page is ready for it. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof AppError)) return error instanceof Error && error.name === "CdpError"
  return error.code === "stale-ref" || (error.code === "evaluate-failed" && !/SyntaxError/.test(error.message))
}

async function inFrames({ tab, operation }: Acting, call: "text" | "visible", wanted: string): Promise<boolean> {
  const ask = async (frame: Frame) => {
    const world = await tab.frames.world(frame, operation.signal)
    return callAgent<boolean | "yes" | "no" | "bad">(world, call, wanted, operation.signal)
  }
  const { main } = tab.frames
  const others = tab.frames.all.filter((frame) => frame !== main).map((frame) => ask(frame).catch(() => false))
  const answers = [await ask(main), ...(await Promise.all(others))]
  if (answers.includes("bad")) throw new AppError("bad-request", "selector: is not a CSS selector")
  return answers.some((answer) => answer === true || answer === "yes")
}
