// How much a server of one's own takes: it is set where the server is started, not by the model, and Ollama cuts what is
// longer from the front without a word. So it is asked, once in a while, and remembered; a server that does not tell
// costs nothing but the question.
import {
  type Clock,
  type JsonObject,
  type Log,
  type Secret,
  isJsonObject,
  raceAbort,
  trimEnd,
} from "../kernel/index.ts"
import { presetOf } from "./chat-completions/index.ts"
import type { PresetName } from "./config.ts"
import { createGuardedFetch } from "./providers/guarded-fetch.ts"
import type { ModelTarget } from "./resolve.ts"
import type { ProviderSettings } from "./view.ts"

export interface ServerContext {
  /** Tokens of prompt and reply together; undefined while it is not known. */
  limitOf(target: ModelTarget): number | undefined
  /** Asks when it is time to. Never throws, but for the signal's reason. */
  look(target: ModelTarget, settings: ProviderSettings, signal: AbortSignal): Promise<void>
  /** The model is loaded now: a server that could not tell before may be asked again. */
  answered(target: ModelTarget): void
}

type Look = (base: string, modelId: string, get: GetJson) => Promise<number | undefined>
type GetJson = (url: string, body?: JsonObject) => Promise<JsonObject>

const timeoutMs = 2_000
/** A server is seldom started anew with another context; one that does not answer costs a step this question. */
const keepMs = 5 * 60_000
/** Ollama tells only of models that are loaded, so it is asked again behind an answer; some servers never tell. */
const maxAsks = 3
const limits = { idleTimeoutMs: timeoutMs, maxResponseBytes: 4_000_000 }

const looks: Partial<Record<PresetName, Look>> = {
  ollama: lookAtOllama,
  "llama.cpp": lookAtLlamaServer,
  vllm: lookAtVllm,
  lmstudio: lookAtLmStudio,
}

interface Told {
  tokens: number | undefined
  /** Monotonic; 0 when it is to be asked again behind an answer. */
  until: number
  /** Questions in a row that it had no answer to. */
  asks: number
}

export function createServerContext(parts: {
  clock: Clock
  /** The key that the server is asked with, if it wants one. */
  keyOf: (target: ModelTarget) => Secret | undefined
  log: Log
}): ServerContext {
  const known = new Map<string, Told>()
  const fetch = createGuardedFetch(limits)
  const nameOf = (target: ModelTarget) => `${target.id} ${target.settings?.baseUrl ?? ""}`
  return {
    answered(target) {
      const told = known.get(nameOf(target))
      if (told && told.tokens === undefined && told.asks < maxAsks) told.until = 0
    },
    limitOf: (target) => known.get(nameOf(target))?.tokens,
    async look(target, settings, signal) {
      const find = settings.preset === undefined ? undefined : looks[settings.preset]
      const now = parts.clock.monotonic()
      const before = known.get(nameOf(target))
      if (!find || (before && before.until > now)) return
      // Kept at once, so that many turns ask one question.
      const asks = before?.until === 0 ? before.asks + 1 : 1
      const told: Told = { tokens: before?.tokens, until: now + keepMs, asks }
      known.set(nameOf(target), told)
      const base = settings.baseUrl ?? (settings.preset === undefined ? "" : presetOf(settings.preset).baseUrl)
      // Not that of the request, which is only the first to want to know: others count on the answer.
      const within = AbortSignal.timeout(timeoutMs)
      const key = parts.keyOf(target)
      const auth = key ? { authorization: `Bearer ${key.reveal()}` } : {}
      const headers = { "content-type": "application/json", ...auth, ...settings.headers }
      const get: GetJson = (url, body) => getJson(fetch, url, { body, signal: within, headers })
      const root = trimEnd(base, "/").replace(/\/chat\/completions$/, "")
      const asking = find(root, target.modelId, get).then(
        (tokens) => void (told.tokens = tokens ?? told.tokens),
        (error: unknown) => {
          // The request itself will say what is wrong with the server.
          parts.log.debug({ model: target.id, err: error }, "server did not tell how much it takes")
          told.asks = maxAsks
        },
      )
      await raceAbort(asking, signal)
    },
  }
}

async function getJson(
  fetch: typeof globalThis.fetch,
  url: string,
  options: { body: JsonObject | undefined; signal: AbortSignal; headers: Record<string, string> },
): Promise<JsonObject> {
  const { body, signal, headers } = options
  const asked = body ? { method: "POST", body: JSON.stringify(body) } : { method: "GET" }
  const response = await fetch(url, { ...asked, headers, signal })
  const text = await response.text()
  const value: unknown = response.ok ? JSON.parse(text) : {}
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
