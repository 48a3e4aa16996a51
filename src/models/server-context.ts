// How much a server of one's own takes: it is set where the server is started, not by the model, and Ollama cuts what is
// longer from the front without a word. So it is asked, once in a while, and remembered; a server that does not tell
// costs nothing but the question.
import { type Clock, type JsonObject, isJsonObject } from "../kernel/index.ts"
import { presetOf } from "./chat-completions/index.ts"
import type { PresetName } from "./config.ts"
import type { ModelTarget } from "./resolve.ts"
import type { ProviderSettings } from "./view.ts"

export interface ServerContext {
  /** Tokens of prompt and reply together; undefined while it is not known. */
  limitOf(target: ModelTarget): number | undefined
  /** Asks when it is time to. Never throws, but for the signal's reason. */
  look(target: ModelTarget, settings: ProviderSettings, signal: AbortSignal): Promise<void>
}

type Look = (base: string, modelId: string, get: GetJson) => Promise<number | undefined>
type GetJson = (url: string, body?: JsonObject) => Promise<JsonObject>

const timeoutMs = 2_000
/** A server is seldom started anew with another context. */
const keepMs = 5 * 60_000
/** Ollama tells only of models that are loaded: soon after the first answer it can. */
const unknownMs = 20_000
const maxBytes = 4_000_000

const looks: Partial<Record<PresetName, Look>> = {
  ollama: lookAtOllama,
  "llama.cpp": lookAtLlamaServer,
  vllm: lookAtVllm,
  lmstudio: lookAtLmStudio,
}

export function createServerContext(parts: { clock: Clock; fetch: typeof fetch }): ServerContext {
  const known = new Map<string, { tokens: number | undefined; until: number }>()
  return {
    limitOf: (target) => known.get(target.id)?.tokens,
    async look(target, settings, signal) {
      const find = settings.preset === undefined ? undefined : looks[settings.preset]
      const now = parts.clock.monotonic()
      const before = known.get(target.id)
      if (!find || (before && before.until > now)) return
      // Set at once, so that many turns ask one question.
      known.set(target.id, { tokens: before?.tokens, until: now + unknownMs })
      const base = settings.baseUrl ?? (settings.preset === undefined ? "" : presetOf(settings.preset).baseUrl)
      const within = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
      const get: GetJson = (url, body) => getJson(parts.fetch, url, { body, signal: within, settings })
      try {
        const tokens = (await find(base.replace(/\/+$/, ""), target.modelId, get)) ?? before?.tokens
        known.set(target.id, { tokens, until: now + (tokens === undefined ? unknownMs : keepMs) })
      } catch {
        // Not told, for whatever reason: the request itself will say what is wrong with the server.
        signal.throwIfAborted()
      }
    },
  }
}

async function getJson(
  fetch: typeof globalThis.fetch,
  url: string,
  options: { body: JsonObject | undefined; signal: AbortSignal; settings: ProviderSettings },
): Promise<JsonObject> {
  const { body, signal, settings } = options
  const headers = { "content-type": "application/json", ...settings.headers }
  const asked = body ? { method: "POST", body: JSON.stringify(body) } : { method: "GET" }
  const response = await fetch(url, { ...asked, headers, signal, redirect: "error" })
  const text = await response.text()
  const value: unknown = response.ok && text.length <= maxBytes ? JSON.parse(text) : {}
  return isJsonObject(value) ? value : {}
}

/** `/api/ps` has `context_length` of each loaded model; `/api/show` the `num_ctx` of a model file that sets one. */
async function lookAtOllama(base: string, modelId: string, get: GetJson): Promise<number | undefined> {
  const root = base.replace(/\/v1$/, "")
  const loaded = list((await get(`${root}/api/ps`)).models).find(
    ({ name, model }) => isOllamaName(name, modelId) || isOllamaName(model, modelId),
  )
  const tokens = positive(loaded?.context_length)
  if (tokens !== undefined) return tokens
  const { parameters } = await get(`${root}/api/show`, { model: modelId })
  const line = typeof parameters === "string" ? /^num_ctx[ \t]+(\d{1,9})\b/m.exec(parameters) : null
  return line ? positive(Number(line[1])) : undefined
}

/** A name without a tag is that of `:latest`. */
function isOllamaName(name: unknown, modelId: string): boolean {
  return name === modelId || name === `${modelId}:latest`
}

/** `/props`: `n_ctx` is that of one slot, which is what one request may have. */
async function lookAtLlamaServer(base: string, _modelId: string, get: GetJson): Promise<number | undefined> {
  const { default_generation_settings: settings } = await get(`${base.replace(/\/v1$/, "")}/props`)
  return isJsonObject(settings) ? positive(settings.n_ctx) : undefined
}

async function lookAtVllm(base: string, modelId: string, get: GetJson): Promise<number | undefined> {
  const found = list((await get(`${base}/models`)).data).find(({ id }) => id === modelId)
  return positive(found?.max_model_len)
}

async function lookAtLmStudio(base: string, modelId: string, get: GetJson): Promise<number | undefined> {
  const found = list((await get(`${base.replace(/\/v1$/, "")}/api/v0/models`)).data).find(({ id }) => id === modelId)
  return positive(found?.loaded_context_length)
}

function list(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined
}
