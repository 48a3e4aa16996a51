// One step: call -> the package's model and options for the kind -> its stream -> step events. The packages' errors
// leave here as the contract's; nothing is retried.
import { AppError } from "../../kernel/index.ts"
import { createGoogleTokens } from "../google-auth/index.ts"
import { ProviderRefusal, type ProviderInterface, type StepCall, type StepEvent } from "../providers/contract.ts"
import type { PreparedStep, PrepareParts, SdkParts } from "./contract.ts"
import { createConverseInterface } from "./converse/index.ts"
import { toProviderError } from "./errors.ts"
import { toStepEvents } from "./events.ts"

export function createSdkInterface(sdk: SdkParts): ProviderInterface {
  const parts: PrepareParts = { ...sdk, tokens: createGoogleTokens(sdk) }
  const converse = createConverseInterface(sdk)
  return (call) => (call.settings.kind === "bedrock" ? converse(call) : runStep(call, parts))
}

async function* runStep(call: StepCall, parts: PrepareParts): AsyncGenerator<StepEvent> {
  // Ends the request when whoever reads the events stops reading.
  const own = new AbortController()
  try {
    const { model, options, meta } = await prepare(call, parts)
    const abortSignal = AbortSignal.any([call.signal, own.signal])
    const { stream } = await model.doStream({ ...options, abortSignal })
    yield* toStepEvents(stream, meta)
  } catch (error) {
    call.signal.throwIfAborted()
    const failure = toProviderError(error)
    if (failure instanceof ProviderRefusal && failure.status === 401) parts.tokens.forget(call.settings.credentialsFile)
    throw failure
  } finally {
    own.abort()
  }
}

async function prepare(call: StepCall, parts: PrepareParts): Promise<PreparedStep> {
  const { kind } = call.settings
  switch (kind) {
    case "anthropic": {
      const { prepareMessages } = await import("./messages/index.ts")
      return await prepareMessages(call)
    }
    case "openai":
    case "azure": {
      const { prepareResponses } = await import("./responses/index.ts")
      return await prepareResponses(call, kind)
    }
    case "google": {
      const { prepareGemini } = await import("./gemini/index.ts")
      return await prepareGemini(call, parts)
    }
    case "vertex": {
      const { prepareVertex } = await import("./vertex.ts")
      return await prepareVertex(call, parts)
    }
    case "bedrock":
    case "openai-compatible":
      throw new AppError("internal", `Providers of kind ${kind} are not asked through a package`)
  }
}
