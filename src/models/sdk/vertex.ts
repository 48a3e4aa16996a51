// Kind `vertex`: Gemini and Claude in a project of Google's cloud. Region, project and access token -> address and
// headers; the rest is the packages' as elsewhere.
import { AppError, trimEnd } from "../../kernel/index.ts"
import type { StepCall } from "../providers/contract.ts"
import { geminiStep } from "./gemini/index.ts"
import type { PreparedStep, PrepareParts } from "./contract.ts"
import { createTransport, mergeHeaders } from "./transport.ts"

interface Place {
  /** Up to and without `/publishers/`. */
  root: string
  headers: Record<string, string>
}

export async function prepareVertex(call: StepCall, parts: PrepareParts): Promise<PreparedStep> {
  const place = await findPlace(call, parts)
  if (call.target.modelId.startsWith("claude-")) return await claudeStep(call, place)
  const baseURL = `${place.root}/publishers/google`
  return geminiStep(call, parts, {
    provider: "google.vertex.chat",
    baseURL,
    headers: place.headers,
    key: "googleVertex",
  })
}

async function findPlace(call: StepCall, { environment, tokens }: PrepareParts): Promise<Place> {
  const { settings, key } = call
  const own = settings.baseUrl === undefined ? undefined : trimEnd(settings.baseUrl, "/")
  if (key !== undefined) {
    return { root: own ?? "https://aiplatform.googleapis.com/v1", headers: { "x-goog-api-key": key.reveal() } }
  }
  const { token, projectId, quotaProjectId } = await tokens.access(settings.credentialsFile, call)
  const region = settings.region ?? environment.GOOGLE_CLOUD_LOCATION ?? "global"
  const project = settings.project ?? environment.GOOGLE_CLOUD_PROJECT ?? projectId
  checkNames(call, region, project)
  const quota = quotaProjectId === undefined ? {} : { "x-goog-user-project": quotaProjectId }
  return {
    root: `${own ?? `https://${hostOf(region)}/v1`}/projects/${project}/locations/${region}`,
    headers: { authorization: `Bearer ${token}`, ...quota },
  }
}

function hostOf(region: string): string {
  if (region === "global") return "aiplatform.googleapis.com"
  // Regions of several countries have names of their own.
  return region === "eu" || region === "us"
    ? `aiplatform.${region}.rep.googleapis.com`
    : `${region}-aiplatform.googleapis.com`
}

/** Both become part of the address that the token is sent to. */
function checkNames({ target }: StepCall, region: string, project: string | undefined): void {
  const where = `models.providers.${target.providerName}`
  if (project === undefined || !/^[\w.:-]+$/.test(project)) {
    throw new AppError("model-key-missing", `The provider ${target.providerName} has no project of Google's cloud`, {
      hint: `Set ${where}.project to the project's id.`,
    })
  }
  if (/^[a-z0-9-]+$/.test(region)) return
  throw new AppError("model-failed", `"${region}" is no region of Google's cloud`, {
    hint: `Set ${where}.region to one such as europe-west1, or to global.`,
  })
}

async function claudeStep(call: StepCall, { root, headers }: Place): Promise<PreparedStep> {
  const [{ AnthropicLanguageModel }, messages, { createMessagesForm }] = await Promise.all([
    import("@ai-sdk/anthropic/internal"),
    import("./messages/index.ts"),
    import("./messages/reply-form.ts"),
  ])
  const { modelId } = call.target
  const model = new AnthropicLanguageModel(modelId, {
    provider: "anthropic.messages",
    baseURL: `${root}/publishers/anthropic/models`,
    headers: mergeHeaders(headers, call),
    fetch: createTransport(call, createMessagesForm),
    buildRequestUrl: (baseURL) => `${baseURL}/${modelId}:streamRawPredict`,
    // The address names the model.
    transformRequestBody: (body) => ({ ...body, model: undefined, anthropic_version: "vertex-2023-10-16" }),
    ...messages.plainInterface,
  })
  return { model, options: messages.messagesOptions(call, { eagerInput: false }), meta: messages.messagesMeta }
}
