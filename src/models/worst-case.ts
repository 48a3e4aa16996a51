// What one call can take at most, before it is made: the prompt by its bytes, the reply by its limit, both at a price that
// is never too low. And what a call has taken whose provider does not say so.
import { AppError } from "../kernel/index.ts"
import type { ModelPrices } from "./config.ts"
import type { ContentPart, ModelMessage, ModelReply, ModelRequest, PlannedCall, Spent } from "./contract.ts"
import { createSum } from "./conversation/index.ts"
import { dearestPrices, dearestPricesOf, isLocalServer } from "./known/index.ts"
import { ProviderPage, ProviderRefusal, ProviderReport } from "./providers/contract.ts"
import type { ModelTarget } from "./resolve.ts"
import { toolSize } from "./tool-size.ts"
import type { ProviderSettings } from "./view.ts"

/** English has four and more bytes to a token, code and JSON three, Chinese two and a half; little has fewer. */
const bytesPerToken = 2.5
/** What a provider counts for one picture; the largest ones are made smaller by the provider itself. */
const tokensOfPicture = 5_000
/** What stands round a message or the description of a tool. */
const frameTokens = 20
/** Of what came before a stream was cut. */
const charactersPerToken = 3
/** Dollars for a million tokens -> billionths of a dollar for one. */
const nanoPerToken = 1_000

export function planCall(
  target: ModelTarget,
  settings: ProviderSettings,
  { agentId, request }: { agentId: string; request: ModelRequest },
): PlannedCall {
  const inputTokens = promptTokens(request)
  const { prices, pricedBy } = pricesOf(target, settings)
  const own = target.maxOutputTokens ?? Math.max(4_096, target.contextTokens - inputTokens)
  return {
    model: target.id,
    agentId,
    usedFor: request.usedFor,
    inputTokens,
    outputTokens: Math.min(own, request.maxOutputTokens ?? own),
    inputPrice: Math.ceil(Math.max(prices.input, prices.cacheWrite ?? 0) * nanoPerToken),
    outputPrice: Math.ceil(prices.output * nanoPerToken),
    pricedBy,
  }
}

/**
 * What is not known is taken for the dearest that is: of the provider, else of all. Only a server of one's own, which
 * says so by its preset, takes no money.
 */
function pricesOf(
  target: ModelTarget,
  settings: ProviderSettings,
): { prices: ModelPrices; pricedBy: PlannedCall["pricedBy"] } {
  if (target.prices) return { prices: target.prices, pricedBy: "model" }
  if (isLocalServer(settings.preset, target.modelId)) return { prices: { input: 0, output: 0 }, pricedBy: "model" }
  const written = Object.values(settings.models ?? {}).flatMap(({ prices }) => prices ?? [])
  const known = dearestPricesOf(settings.kind, settings.preset, settings.baseUrl)
  const all = known ? [...written, known] : written
  if (all.length === 0) return { prices: dearestPrices(), pricedBy: "all" }
  const dearest = (of: (prices: ModelPrices) => number) => Math.max(...all.map(of))
  const input = dearest((prices) => Math.max(prices.input, prices.cacheWrite ?? 0))
  return { prices: { input, output: dearest((prices) => prices.output) }, pricedBy: "provider" }
}

/** What an answered call counts for (a number: characters of one that was cut): the provider's figures, else the plan's. */
export function countReply(plan: PlannedCall, reply: ModelReply | number, cost?: number): Spent {
  const usage = typeof reply === "number" ? undefined : reply.usage
  const input = usage?.inputTokens ?? plan.inputTokens
  const output = usage?.outputTokens ?? Math.min(plan.outputTokens, writtenTokens(reply))
  const nanoDollars = cost === undefined ? input * plan.inputPrice + output * plan.outputPrice : cost * 1e9
  return { tokens: Math.round(input + output), nanoDollars: Math.round(nanoDollars) }
}

function writtenTokens(reply: ModelReply | number): number {
  if (typeof reply === "number") return Math.ceil(reply / charactersPerToken)
  const calls = reply.toolCalls.length === 0 ? 0 : JSON.stringify(reply.toolCalls).length
  return Math.ceil((reply.text.length + reply.reasoning.length + calls) / charactersPerToken)
}

/** No connection was made, so nothing was asked. */
const unreached = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "CERT_HAS_EXPIRED"])

/** A refusal is free, and so is a page where no model is. Whatever else ends a call (a cut stream, silence, a stop by a person) comes after the prompt was read. */
export function mayHaveBeenCharged(error: unknown, hasWritten: boolean): boolean {
  if (hasWritten) return true
  for (let cause: unknown = error, depth = 0; cause instanceof Error && depth < 6; cause = cause.cause, depth += 1) {
    const isFree = [ProviderRefusal, ProviderReport, ProviderPage].some((kind) => cause instanceof kind)
    if (isFree || (cause instanceof AppError && cause.code === "model-key-missing")) return false
    if ("code" in cause && unreached.has(String(cause.code))) return false
  }
  return true
}

/** At most. Base64 of pictures is not looked at. */
function promptTokens({ system, messages, tools }: ModelRequest): number {
  const described = tools.reduce((sum, tool) => sum + frameTokens + toolSize(tool).bytes / bytesPerToken, 0)
  return Math.ceil(tokensOf(system) + described + tokensOfAll(messages))
}

const tokensOfAll = createSum((message) => frameTokens + messageTokens(message))

function messageTokens(message: ModelMessage): number {
  if (message.role === "tool") {
    return message.results.reduce((sum, { content }) => sum + frameTokens + contentTokens(content), 0)
  }
  if (message.role === "user") return contentTokens(message.content)
  const { text, toolCalls, replay } = message
  const told = replay ? JSON.stringify(replay) : ""
  const calls = toolCalls.length === 0 ? "" : JSON.stringify(toolCalls)
  return tokensOf(text) + tokensOf(calls) + tokensOf(told)
}

function contentTokens(content: readonly ContentPart[]): number {
  return content.reduce((sum, part) => sum + (part.type === "text" ? tokensOf(part.text) : tokensOfPicture), 0)
}

function tokensOf(text: string): number {
  return Buffer.byteLength(text) / bytesPerToken
}
