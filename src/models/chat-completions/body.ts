// One prepared step -> the request: address, headers and body.
import { AppError, type JsonObject } from "../../kernel/index.ts"
import type { StepCall } from "../providers/contract.ts"
import { overlay } from "../providers/overlay.ts"
import { messagesInJson } from "./messages.ts"
import { presetOf, type Ways } from "./presets.ts"
import { thinkingFields } from "./thinking.ts"
import { adaptToolSchema } from "./tool-schema.ts"
import { hostOf, waysOf } from "./ways.ts"

export interface WireRequest {
  url: string
  headers: Headers
  /** JSON. */
  body: Buffer
}

export function toWireRequest(call: StepCall): WireRequest {
  const ways = waysOf(call.settings, call.target)
  return { url: addressOf(call), headers: headersOf(call, ways), body: bodyOf(call, ways) }
}

function bodyOf(call: StepCall, ways: Ways): Buffer {
  const { settings, target } = call
  const body = overlay(overlay(fieldsOf(call, ways), settings.extraBody ?? {}), target.entry.extraBody ?? {})
  // Said by `extraBody` in place of ours.
  if (Object.hasOwn(body, "messages")) return Buffer.from(JSON.stringify(body))
  const messages = messagesInJson({ ...call, dummySignatures: checksSignatures(call) }, ways)
  return Buffer.concat([Buffer.from(`${JSON.stringify(body).slice(0, -1)},"messages":`), messages, Buffer.from("}")])
}

/** A query behind the address stays behind it; an address that names the method already is taken as it is. */
function addressOf({ settings, target }: StepCall): string {
  const base = settings.baseUrl ?? (settings.preset === undefined ? undefined : presetOf(settings.preset).baseUrl)
  if (base === undefined || !URL.canParse(base)) {
    throw new AppError("config-invalid", `models.providers.${target.providerName} has no baseUrl and no preset`)
  }
  const url = new URL(base)
  let path = url.pathname
  while (path.endsWith("/")) path = path.slice(0, -1)
  url.pathname = path.endsWith("/chat/completions") ? path : `${path}/chat/completions`
  return url.href
}

function headersOf({ settings, target, key, cacheKey }: StepCall, ways: Ways): Headers {
  const headers = new Headers({ "content-type": "application/json", accept: "text/event-stream, application/json" })
  if (key !== undefined) headers.set("authorization", `Bearer ${key.reveal()}`)
  if (cacheKey !== undefined && ways.cacheKey !== undefined && "header" in ways.cacheKey) {
    headers.set(ways.cacheKey.header, encodeURIComponent(cacheKey))
  }
  for (const [name, value] of Object.entries(settings.headers ?? {})) headers.set(name, value)
  for (const [name, value] of Object.entries(target.entry.headers ?? {})) headers.set(name, value)
  return headers
}

/** All but the messages. */
function fieldsOf(call: StepCall, ways: Ways): JsonObject {
  const { target, tools, maxOutputTokens, cacheKey } = call
  const { temperature } = target.entry
  return {
    model: target.modelId,
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => toWireTool(tool, ways)) }),
    stream: true,
    ...(ways.streamOptions ? { stream_options: { include_usage: true } } : {}),
    ...(maxOutputTokens === undefined ? {} : { [ways.maxTokensField]: maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(cacheKey !== undefined && ways.cacheKey !== undefined && "field" in ways.cacheKey
      ? { [ways.cacheKey.field]: cacheKey }
      : {}),
    ...thinkingFields(call.thinking, target, ways),
  }
}

function toWireTool({ name, description, inputSchema }: StepCall["tools"][number], ways: Ways): JsonObject {
  return { type: "function", function: { name, description, parameters: adaptToolSchema(inputSchema, ways.schemas) } }
}

/** Gemini 3 refuses calls of earlier replies that have no signature; proxies in front of it pass the refusal on. */
function checksSignatures({ settings, target }: StepCall): boolean {
  return hostOf(settings) === "generativelanguage.googleapis.com" || /\bgemini-/i.test(target.modelId)
}
