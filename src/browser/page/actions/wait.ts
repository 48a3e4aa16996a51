// act: wait. The conditions are met one after the other, each looked for again and again until the time is up; a page
// that navigates meanwhile is looked at anew.
import { AppError, describeError } from "../../../kernel/index.ts"
import type { WaitRequest } from "../../requests/index.ts"
import { refuseCodeBesideSecrets } from "../concealment.ts"
import { callAgent, type Frame } from "../frames.ts"
import type { Tab } from "../tab.ts"
import { matchesUrl } from "../url-pattern.ts"
import { endWhenAborted, runExpression } from "./evaluate.ts"
import type { Acting } from "./mouse.ts"

const pauseMs = 50
/** Our own word about what did not come must be earlier than the operation's limit. */
const marginMs = 80

const lifecycleNames = { load: "load", domcontentloaded: "DOMContentLoaded", networkidle: "networkIdle" } as const

export async function wait(acting: Acting, request: WaitRequest): Promise<void> {
  const { tab, operation } = acting
  const { text, textGone, selector, url, loadState, fn } = request
  if (request.timeMs !== undefined) await tab.clock.sleep(request.timeMs, operation.signal)
  if (text !== undefined) await until(acting, "the text to appear", (signal) => inFrames(tab, "text", text, signal))
  if (textGone !== undefined)
    await until(acting, "the text to go", async (signal) => !(await inFrames(tab, "text", textGone, signal)))
  if (selector !== undefined)
    await until(acting, "the selector to be visible", (signal) => inFrames(tab, "visible", selector, signal))
  if (url !== undefined) await until(acting, "the address", async () => matchesUrl(url, tab.url))
  if (loadState !== undefined)
    await until(acting, `the load state ${loadState}`, async () => tab.hasReached(lifecycleNames[loadState]))
  if (fn !== undefined) {
    await refuseCodeBesideSecrets(tab, operation)
    await until(acting, "the function to be true", (signal) => isTrue(tab, fn, signal))
  }
}

async function until(acting: Acting, what: string, holds: (signal: AbortSignal) => Promise<boolean>): Promise<void> {
  const { tab, operation } = acting
  const timeLeft = Math.floor(operation.deadline - marginMs - tab.clock.monotonic())
  const limit = AbortSignal.timeout(Math.max(1, timeLeft))
  const signal = AbortSignal.any([operation.signal, limit])
  for (let lastError: unknown; ;) {
    try {
      if (await holds(signal)) return
      lastError = undefined
    } catch (error) {
      if (!signal.aborted && !isPassing(error)) throw error
      if (!signal.aborted) lastError = error
    }
    operation.signal.throwIfAborted()
    if (limit.aborted) throw inVain(what, lastError)
    await tab.clock.sleep(pauseMs, operation.signal)
  }
}

function inVain(what: string, lastError: unknown): AppError {
  const last = lastError === undefined ? "" : ` (${describeError(lastError)})`
  return new AppError("timeout", `Waited in vain for ${what}${last}`, {
    hint: "Take a snapshot to see what the page shows, or give a larger timeoutMs",
  })
}

/** A page on its way to another one cannot be asked, and a function may fail until the page is ready for it. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof AppError)) return error instanceof Error && error.name === "CdpError"
  return error.code === "stale-ref" || (error.code === "evaluate-failed" && !/SyntaxError/.test(error.message))
}

async function isTrue(tab: Tab, fn: string, signal: AbortSignal): Promise<boolean> {
  const stop = endWhenAborted(tab.session, signal)
  try {
    return Boolean(await runExpression(tab.session, fn, signal))
  } finally {
    stop()
  }
}

/** A frame that does not answer must not keep the others from being heard. */
const childFrameMs = 3_000

async function inFrames(tab: Tab, call: "text" | "visible", wanted: string, signal: AbortSignal): Promise<boolean> {
  const ask = async (frame: Frame, limit: AbortSignal) => {
    const world = await tab.frames.world(frame, limit)
    return callAgent<boolean | "yes" | "no" | "bad">(world, call, wanted, limit)
  }
  const { main } = tab.frames
  const childLimit = AbortSignal.any([signal, AbortSignal.timeout(childFrameMs)])
  const inChildren = tab.frames.all
    .filter((frame) => frame !== main)
    .map((frame) => ask(frame, childLimit).catch(() => false))
  const inMain = await ask(main, signal)
  const answers = inMain === true || inMain === "yes" ? [inMain] : [inMain, ...(await Promise.all(inChildren))]
  if (answers.includes("bad")) throw new AppError("bad-request", "selector: is not a CSS selector")
  return answers.some((answer) => answer === true || answer === "yes")
}
