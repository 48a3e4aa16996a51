// Results of runs over HTTP: `?wait=<seconds>` on an agent delivery, and `GET runs/<id>`.
import type { IncomingMessage } from "node:http"
import { jsonResponse } from "../kernel/http/index.ts"
import { AppError, type Clock } from "../kernel/index.ts"
import type { HookRun } from "./contract.ts"
import type { Outcome } from "./process.ts"
import type { HookRuns } from "./runs.ts"

const maxWaitSeconds = 300
/** A chat that cannot be reached holds an answer up no longer, which then says that the message waits. */
const longestDeliveryWaitMs = 10_000

/** Milliseconds; undefined when the sender does not want to wait. */
export function readWait(query: string): number | undefined {
  if (!query.includes("wait=")) return undefined
  const text = new URLSearchParams(query).get("wait")
  if (text === null) return undefined
  const seconds = /^\d{1,4}(?:\.\d{1,3})?$/.test(text) ? Number(text) : Number.NaN
  if (!(seconds >= 0 && seconds <= maxWaitSeconds)) {
    throw new AppError("bad-request", `wait must be a number of seconds, at most ${maxWaitSeconds}`)
  }
  return seconds * 1000
}

/** 200 with the reply, and whether it was sent, when the run ends in time; else what would have been answered at once. */
export async function answerWithReply(
  runs: HookRuns,
  { outcome, waitMs, request, clock }: { outcome: Outcome; waitMs: number; request: IncomingMessage; clock: Clock },
): Promise<Response> {
  const gone = new AbortController()
  const until = clock.monotonic() + waitMs
  const leave = () => gone.abort()
  request.socket.once("close", leave)
  try {
    const run = request.socket.destroyed ? undefined : await runs.wait(outcome.runIds[0] as string, waitMs, gone.signal)
    if (!run) return jsonResponse(outcome.answer, outcome.status)
    const leftMs = Math.min(longestDeliveryWaitMs, until - clock.monotonic())
    return jsonResponse({ ...outcome.answer, ...visible(await runs.settled(run, leftMs, gone.signal)) }, 200)
  } finally {
    request.socket.off("close", leave)
  }
}

/** `tokenId`: who asks has a token of its own, and not the hook token. */
export function answerRun(
  runs: HookRuns,
  method: string | undefined,
  { runId, tokenId }: { runId: string; tokenId: string | undefined },
): Response {
  if (method === "OPTIONS") return new Response(null, { status: 204, headers: { allow: "GET, HEAD, OPTIONS" } })
  const run = tokenId === undefined ? runs.read(runId) : runs.readFor(tokenId, runId)
  if (!run) throw new AppError("turn-not-found", "There is no run of this id that came from a webhook")
  return jsonResponse({ ok: true, ...visible(run) })
}

/** Whoever has the token learns why a run failed: nobody else is there to see it. */
function visible({ runId, state, reply, delivered, delivery, error, createdAt, finishedAt }: HookRun) {
  return { runId, state, reply, delivered, delivery, error, createdAt, finishedAt }
}
