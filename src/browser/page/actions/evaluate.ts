// Code of the caller in the page's own world. It runs in the browser only, with a time limit and a limit on its result.
import { AppError } from "../../../kernel/index.ts"
import { refuseCodeBesideSecrets } from "../concealment.ts"
import { CdpError, type CdpSession } from "../../cdp/index.ts"
import type { EvaluateRequest } from "../../requests/index.ts"
import { parseRef, type RefEntry, staleRef } from "../refs.ts"
import type { Acting } from "./mouse.ts"

/** Results go to a model or into a terminal; larger ones are for the page to make smaller. */
export const maxResultChars = 1_000_000

interface Reply {
  result: { value?: unknown; objectId?: string }
  exceptionDetails?: { text: string; exception?: { description?: string; value?: unknown } }
}

export async function evaluate({ tab, operation, progress }: Acting, request: EvaluateRequest): Promise<unknown> {
  const { signal } = operation
  await refuseCodeBesideSecrets(tab, operation)
  const entry = request.ref === undefined ? undefined : tab.refs.resolve(request.ref, tab)
  const session = entry?.frame.session ?? tab.session
  progress.sent = true
  const stop = endWhenAborted(session, signal)
  try {
    if (!entry) return await runExpression(session, request.fn, signal)
    return await runOnElement(session, entry, { fn: request.fn, number: parseRef(request.ref as string) }, signal)
  } catch (error) {
    if (!(error instanceof CdpError)) throw error
    throw new AppError("evaluate-failed", "The page went away while the code ran", { cause: error })
  } finally {
    stop()
  }
}

/** A loop without end would hold the tab for good. */
export function endWhenAborted(session: CdpSession, signal: AbortSignal): () => void {
  const end = () => {
    // Nobody waits for the answer: where the page is gone already, so is the loop.
    session.send("Runtime.terminateExecution").catch(() => undefined)
  }
  signal.addEventListener("abort", end, { once: true })
  return () => signal.removeEventListener("abort", end)
}

export async function runExpression(session: CdpSession, fn: string, signal: AbortSignal): Promise<unknown> {
  const expression = `(async () => { const given = (${fn}\n); return (${pack})(typeof given === "function" ? await given() : await given) })()`
  const parameters = { expression, returnByValue: true, awaitPromise: true, userGesture: true }
  return unpack(await session.send<Reply>("Runtime.evaluate", parameters, { signal, timeoutMs: 0 }))
}

async function runOnElement(
  session: CdpSession,
  entry: RefEntry,
  code: { fn: string; number: number },
  signal: AbortSignal,
): Promise<unknown> {
  const { world } = entry
  const found = await session.send<Reply>(
    "Runtime.evaluate",
    { expression: `globalThis[${JSON.stringify(world.key)}].element(${entry.id})`, contextId: world.contextId },
    { signal },
  )
  const { objectId } = found.result
  if (objectId === undefined) throw staleRef(code.number)
  // From our own world to the page's: the node is the same, the object is another.
  const { node } = await session.send<{ node: { backendNodeId: number } }>("DOM.describeNode", { objectId }, { signal })
  const { object } = await session.send<{ object: { objectId: string } }>(
    "DOM.resolveNode",
    { backendNodeId: node.backendNodeId },
    { signal },
  )
  const functionDeclaration = `async function () { const given = (${code.fn}\n); return (${pack})(typeof given === "function" ? await given(this) : await given) }`
  const reply = await session.send<Reply>(
    "Runtime.callFunctionOn",
    { objectId: object.objectId, functionDeclaration, returnByValue: true, awaitPromise: true, userGesture: true },
    { signal, timeoutMs: 0 },
  )
  await session.send("Runtime.releaseObject", { objectId: object.objectId }, { signal })
  return unpack(reply)
}

/** Runs in the page: the result as JSON, cut there, so that nothing large travels. */
const pack = `(value) => {
  const text = JSON.stringify(value)
  if (text === undefined) return null
  return text.length > ${maxResultChars} ? text.length : text
}`

function unpack(reply: Reply): unknown {
  if (reply.exceptionDetails) {
    const { exception, text } = reply.exceptionDetails
    const said = exception?.description ?? (exception?.value === undefined ? text : String(exception.value))
    throw new AppError("evaluate-failed", `The code failed: ${said.split("\n")[0]?.slice(0, 500)}`)
  }
  const { value } = reply.result
  if (typeof value === "number") {
    throw new AppError("evaluate-failed", `The result is too large: ${value} characters of JSON`, {
      hint: `At most ${maxResultChars} are given out; return less`,
    })
  }
  return typeof value === "string" ? (JSON.parse(value) as unknown) : null
}
