// What is asked for again and again until Ctrl-C, across restarts of the gateway.
import { AppError } from "../../src/kernel/errors.ts"
import type { CliContext } from "../context.ts"

const everyMs = 1_000

/** Whether a gateway that restarts, or starts, would answer so. */
export function isAway(error: unknown): boolean {
  return error instanceof AppError && (error.code === "gateway-unreachable" || error.status === 503)
}

/**
 * Looks each second, until Ctrl-C. A gateway that is away is said once, and waited for; before the first look has
 * succeeded it is an error.
 */
export async function follow(context: CliContext, look: () => Promise<void>): Promise<void> {
  const signal = context.interrupted()
  let state: "begun" | "followed" | "away" = "begun"
  while (!signal.aborted) {
    try {
      await look()
      if (state === "away") context.output.note("the gateway is back")
      state = "followed"
    } catch (error) {
      // Ctrl-C is the usual end, also in the middle of a look.
      if (signal.aborted) return
      if (state === "begun" || !isAway(error)) throw error
      if (state === "followed") context.output.note("the gateway is away; this goes on when it is back")
      state = "away"
    }
    await pause(signal)
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const finished = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", finished)
      resolve()
    }
    const timer = setTimeout(finished, everyMs)
    signal.addEventListener("abort", finished, { once: true })
  })
}
