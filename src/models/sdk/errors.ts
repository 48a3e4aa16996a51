// What the packages throw or put into their streams -> the contract's errors. Refusals are made by the transport and
// only found again here, under the packages' wrapping.
import { AppError, isJsonObject, type Json } from "../../kernel/index.ts"
import { ProviderRefusal, ProviderReport } from "../providers/contract.ts"

export function toProviderError(error: unknown): unknown {
  for (const each of causesOf(error)) {
    if (each instanceof AppError || each instanceof ProviderRefusal || each instanceof ProviderReport) return each
  }
  if (!(error instanceof Error) || error.name !== "AI_APICallError") return error
  // The transport has seen the status already: this is an error that a provider reported in a reply of status 200.
  const { data, responseBody } = error as { data?: unknown; responseBody?: unknown }
  if (isChatCompletion(data)) return wrongInterfaceError(error)
  const report = toJson(data) ?? parse(responseBody)
  if (report !== undefined) return new ProviderReport(report, error)
  return error.cause instanceof Error ? error.cause : error
}

/** An error inside the stream: what the provider reported, or what the package could not read. */
export function toStreamError(error: unknown): unknown {
  if (error instanceof Error) {
    const found = toProviderError(error)
    if (found !== error) return found
    return new Error("The provider sent a reply that could not be read", { cause: error })
  }
  const data = isJsonObject(error) && "data" in error ? error.data : error
  return new ProviderReport(toJson(data) ?? "The provider reported an error without words")
}

function wrongInterfaceError(cause: unknown): AppError {
  return new AppError("model-failed", "The server speaks Chat Completions, not Responses", {
    cause,
    hint: 'Set the provider\'s kind to "openai-compatible".',
  })
}

function isChatCompletion(data: unknown): boolean {
  return isJsonObject(data) && Array.isArray(data.choices)
}

function causesOf(error: unknown): Error[] {
  const chain: Error[] = []
  for (let current = error; current instanceof Error && chain.length < 8; current = current.cause) chain.push(current)
  return chain
}

function toJson(data: unknown): Json | undefined {
  return data === undefined || data === null ? undefined : (JSON.parse(JSON.stringify(data)) as Json)
}

function parse(text: unknown): Json | undefined {
  if (typeof text !== "string" || text === "") return undefined
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}
