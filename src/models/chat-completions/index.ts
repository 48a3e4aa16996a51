// The client for Chat Completions: every server that says it is compatible, the presets, and Azure's chat route.
// step -> body.ts -> POST -> stream.ts (sse.ts -> reply.ts) -> events. Retries nothing and keeps nothing.
import type { ProviderInterface, StepCall, StepEvent } from "../providers/contract.ts"
import { readRefusal } from "../providers/refusal.ts"
import { toWireRequest } from "./body.ts"
import { readStream } from "./stream.ts"

export { presetOf, type Preset, type Ways } from "./presets.ts"
export { decodeEvents, type ServerEvent } from "./sse.ts"
export { adaptToolSchema, type SchemaDialect } from "./tool-schema.ts"
export { waysOf } from "./ways.ts"

export interface ChatCompletionsParts {
  /**
   * Ids of calls that come without one, or with one that another call of the reply has. Unset: `call_`, the end of the
   * reply's own id where it has one, and the call's place in it.
   */
  newCallId?: () => string
  /** How long a complete reply waits for its counts of tokens. */
  trailingMs?: number
}

export function createChatCompletions(parts: ChatCompletionsParts = {}): ProviderInterface {
  return (call) => runStep(parts, call)
}

async function* runStep(parts: ChatCompletionsParts, call: StepCall): AsyncGenerator<StepEvent, void, undefined> {
  // Closes the connection when whoever reads the events stops, or when the reply is complete and the stream is not.
  const own = new AbortController()
  const signal = AbortSignal.any([call.signal, own.signal])
  try {
    const response = await post(call, signal)
    if (!response.ok) throw await readRefusal(response)
    yield* readStream(response.body ?? new Blob([]).stream(), {
      toolNames: new Set(call.tools.map(({ name }) => name)),
      newCallId: parts.newCallId,
      trailingMs: parts.trailingMs ?? 2000,
      signal: call.signal,
    })
  } finally {
    own.abort(answerRead)
  }
}

/** One for all: without a reason a new error with a stack is made for each. */
const answerRead = new Error("the answer has been read")

/** By itself, so that nothing keeps the request while its answer is written: it is a whole context. */
function post(call: StepCall, signal: AbortSignal): Promise<Response> {
  const { url, headers, body } = toWireRequest(call)
  return call.fetch(url, { method: "POST", headers, body, signal })
}
