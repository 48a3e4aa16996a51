// script -> the whole reply: ids and signatures given out, tokens counted.
import { createHash } from "node:crypto"
import type { IssuedPart, ProviderName, WireName } from "../provider-rules/index.ts"
import { geminiModel } from "../provider-rules/index.ts"
import { estimateTokens, type Billing } from "./billing.ts"
import type { ScriptedPart, ScriptedReply } from "./reply.ts"
import type { RecordedRequest } from "./recorded-request.ts"
import type { ReplyUsage, WholeReply } from "./wires/index.ts"

export interface IssueParts {
  wire: WireName
  provider: ProviderName | undefined
  /** Undefined: every reply costs the same. */
  billing: Billing | undefined
}

/** What every reply costs unless it is counted or scripted. */
const plainUsage: ReplyUsage = { input: 11, output: 7, reasoning: 0, cacheRead: 0, cacheWrite: 0 }

export function issueReply(reply: ScriptedReply, request: RecordedRequest, parts: IssueParts): WholeReply {
  const id = `reply-${request.n}`
  const scripted = scriptedParts(reply)
  const issued = issueParts(scripted, id, parts)
  return {
    id,
    model: modelOf(request, parts.wire),
    parts: issued,
    finishReason: reply.kind === "reply" ? reply.finishReason : undefined,
    usage: usageOf(reply, issued, request, parts),
    provider: parts.provider,
    request: request.body,
  }
}

/** Two interfaces name the model in the path. */
export function modelOf(request: Pick<RecordedRequest, "path" | "body">, wire: WireName): string {
  if (wire === "gemini") return geminiModel(request.path)
  if (wire === "converse") return decodeURIComponent(request.path.split("/").at(-2) ?? "")
  return String(request.body.model)
}

function scriptedParts(reply: ScriptedReply): ScriptedPart[] {
  if (reply.kind === "reply" && reply.parts) return reply.parts
  const reasoning = reply.kind === "reply" || reply.kind === "drip" ? (reply.reasoning ?? "") : ""
  const words =
    reply.kind === "reply" || reply.kind === "drip" || reply.kind === "cut" || reply.kind === "broken-off"
      ? (reply.text ?? "")
      : ""
  const calls = reply.kind === "reply" ? (reply.calls ?? []) : []
  return [
    ...(reasoning === "" ? [] : [{ type: "reasoning" as const, text: reasoning }]),
    ...(words === "" ? [] : [{ type: "text" as const, text: words }]),
    ...calls.map((call) => ({ type: "call" as const, ...call })),
  ]
}

function issueParts(scripted: readonly ScriptedPart[], id: string, { wire, provider }: IssueParts): IssuedPart[] {
  let calls = 0
  let thoughts = 0
  return scripted.map((part): IssuedPart => {
    if (part.type === "text") return part
    if (part.type === "reasoning") {
      thoughts += 1
      const suffix = thoughts === 1 ? "" : `-${thoughts}`
      const redacted = part.redacted ?? false
      return {
        type: "reasoning",
        text: part.text,
        signature: `${redacted ? "redacted" : "signed"}-${id}${suffix}`,
        redacted,
      }
    }
    const index = calls
    calls += 1
    const callId = part.id ?? callIdOf(id, index, provider)
    // Of calls made together only the first is signed.
    const signature = wire === "gemini" && index === 0 ? { signature: `signed-${id}-call-0` } : {}
    return { ...part, id: callId, ...signature }
  })
}

/** Mistral's ids are nine letters and digits. */
function callIdOf(id: string, index: number, provider: ProviderName | undefined): string {
  const plain = `${id}-call-${index}`
  return provider === "mistral" ? createHash("sha256").update(plain).digest("hex").slice(0, 9) : plain
}

function usageOf(
  reply: ScriptedReply,
  issued: readonly IssuedPart[],
  request: RecordedRequest,
  { wire, billing }: IssueParts,
): ReplyUsage {
  const given = reply.kind === "reply" ? reply.usage : undefined
  if (given) return { ...plainUsage, ...given }
  const thought = issued.map((part) => (part.type === "reasoning" ? part.text : "")).join("")
  if (!billing) return { ...plainUsage, reasoning: thought === "" ? 0 : 3 }
  const words = issued.map((part) =>
    part.type === "text" ? part.text : part.type === "call" ? part.name + JSON.stringify(part.input) : "",
  )
  const reasoning = estimateTokens(thought.length)
  const output = reasoning + Math.max(1, estimateTokens(words.join("").length))
  return { ...billing.charge(wire, modelOf(request, wire), request.body), output, reasoning }
}
