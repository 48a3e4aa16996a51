// Kind `bedrock`: the Converse interface, over our own client. The package for it would add twelve others.
// call -> body -> signed request -> binary frames -> step events.
import { AppError, type Clock, trimEnd } from "../../../kernel/index.ts"
import type { Environment } from "../../keys.ts"
import type { ProviderInterface, StepCall } from "../../providers/contract.ts"
import { overlay } from "../../providers/overlay.ts"
import { readRefusal } from "../../providers/refusal.ts"
import { mergeHeaders } from "../transport.ts"
import { toConverseBody } from "./body.ts"
import { readConverse } from "./events.ts"
import { readFrames } from "./frames.ts"
import { type AwsKeys, signRequest } from "./sign.ts"

interface ConverseParts {
  /** Region and credentials; never an address. */
  environment: Environment
  clock: Clock
}

export function createConverseInterface(parts: ConverseParts): ProviderInterface {
  return async function* converse(call) {
    const own = new AbortController()
    try {
      const response = await send(call, parts, AbortSignal.any([call.signal, own.signal]))
      if (!response.ok) throw await readRefusal(response)
      yield* readConverse(readFrames(response.body ?? new ReadableStream()))
    } catch (error) {
      call.signal.throwIfAborted()
      throw error
    } finally {
      own.abort()
    }
  }
}

async function send(call: StepCall, { environment, clock }: ConverseParts, signal: AbortSignal): Promise<Response> {
  const { settings, target, key } = call
  const region = settings.region ?? environment.AWS_REGION ?? environment.AWS_DEFAULT_REGION
  const root = trimEnd(settings.baseUrl ?? `https://${hostOf(call, region)}`, "/")
  const url = `${root}/model/${encodeURIComponent(target.modelId)}/converse-stream`
  const extras = [settings.extraBody, target.entry.extraBody].filter((extra) => extra !== undefined)
  const body = JSON.stringify(extras.reduce(overlay, await toConverseBody(call)))
  const bearer = key === undefined ? undefined : `Bearer ${key.reveal()}`
  const headers = mergeHeaders({ "content-type": "application/json", authorization: bearer }, call)
  if (headers.authorization !== undefined) return await call.fetch(url, { method: "POST", headers, body, signal })
  const keys = readAwsKeys(call, environment)
  const request = { method: "POST", url, headers, body, region: region ?? "us-east-1", service: "bedrock" }
  return await call.fetch(url, { method: "POST", headers: signRequest(request, keys, clock.now()), body, signal })
}

function hostOf({ target }: StepCall, region: string | undefined): string {
  if (region !== undefined && /^[a-z0-9-]+$/.test(region)) {
    return `bedrock-runtime.${region}.${region.startsWith("cn-") ? "amazonaws.com.cn" : "amazonaws.com"}`
  }
  const what = region === undefined ? "has no region" : `has a region that is none: "${region.slice(0, 40)}"`
  throw new AppError("model-failed", `The provider ${target.providerName} ${what}`, {
    hint: `Set models.providers.${target.providerName}.region, or AWS_REGION in the environment, for example to us-east-1.`,
  })
}

function readAwsKeys({ target }: StepCall, environment: Environment): AwsKeys {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: session } = environment
  if (id && secret) return { id, secret, session }
  throw new AppError("model-key-missing", `The provider ${target.providerName} of the model ${target.id} has no key`, {
    hint: "Set AWS_BEARER_TOKEN_BEDROCK, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, in the environment.",
  })
}
