// Verdict -> words: what the operator is told to do next, and what a person in a chat reads. The chat's sentences are
// fixed, so that nothing of a provider's text can reach a chat through them.
import type { FailureKind } from "./contract.ts"
import type { NetworkTrouble } from "./network.ts"
import type { Because, Verdict } from "./verdict.ts"

const chatOfKind: Readonly<Record<FailureKind, string>> = {
  network: "The model service cannot be reached just now.",
  busy: "The model service is overloaded just now.",
  silent: "The model service did not answer in time.",
  key: "The model service did not accept the key.",
  credit: "The account at the model service has no credit left.",
  context: "The conversation is longer than the model can take.",
  form: "The model service did not understand the request.",
  refused: "The model service refused the request.",
  "unknown-model": "The model service does not know the chosen model.",
  declined: "The model service declined to answer this.",
  empty: "The model answered with nothing.",
  broken: "The answer of the model service could not be read.",
}

const chatOfBecause: Readonly<Partial<Record<Because, string>>> = {
  limit: "The model service has had too many requests just now.",
  day: "The limit of the model service for today is used up.",
  loading: "The model is still being loaded.",
  permission: "The model service does not allow this key to use the model.",
  region: "The model service is not available in this region.",
  page: "The model service cannot be reached at its address.",
  memory: "The model needs more memory than its server has.",
}

export function chatMessageOf({ kind, because }: Verdict): string {
  return (because === undefined ? undefined : chatOfBecause[because]) ?? chatOfKind[kind]
}

const hintOfKind: Readonly<Partial<Record<FailureKind, string>>> = {
  key: "Check the provider's key: it may be wrong, expired, or not allowed to use this model.",
  credit: "Check the plan and the billing of the account that this key belongs to.",
  context:
    "The conversation is longer than the model takes. Start a new one with /reset, or set the model's contextTokens.",
  "unknown-model": "Check the model's name, and the provider's baseUrl: for most servers it ends in /v1.",
  declined: "The provider's filter stopped it; another model may answer.",
}

const hintOfBecause: Readonly<Record<Because, string | undefined>> = {
  limit: undefined,
  day: "The limit of a day is used up. Add another key (apiKeys) or a fallback model.",
  loading: undefined,
  permission: "The key is known but may not do this: check its rights to this model, project and region.",
  region: "The provider does not serve the place that the request came from. Choose another provider or region.",
  page: "A web page answered instead of the interface. Check the provider's baseUrl, and any proxy or firewall on the way.",
  memory: "The server's machine has too little memory for this model. Use a smaller one, or a shorter context.",
  "router-policy": "No provider behind the router takes this request. Check its settings for data and providers.",
  "reply-tokens": "Check the model's maxOutputTokens.",
  minute:
    "The request has more tokens than the account may send in a minute. Start a new conversation with /reset, or choose a plan or model with a higher limit.",
}

export function hintOf({ kind, because }: Verdict, words: string): string | undefined {
  return hintOfWords(kind, words) ?? (because === undefined ? undefined : hintOfBecause[because]) ?? hintOfKind[kind]
}

/** Next steps that only one server has. */
function hintOfWords(kind: FailureKind, words: string): string | undefined {
  if (kind !== "unknown-model") return undefined
  const missing = /model ["']([\w./:@-]{1,100})["'] not found, try pulling it/i.exec(words)?.[1]
  if (missing !== undefined) return `Run on the server: ollama pull ${missing}`
  if (/no models? (?:is )?loaded/i.test(words)) return "Load a model on the server, for example with: lms load"
  if (/on-demand throughput isn/i.test(words)) {
    return "Name an inference profile instead of the model, such as eu. or us. in front of the model's id."
  }
  return undefined
}

export function tellNetwork(trouble: NetworkTrouble, place: string | undefined): { message: string; hint?: string } {
  switch (trouble) {
    case "refused":
      return {
        message: `Nothing answers at ${place ?? "the provider's address"}`,
        hint: "Check that the server runs and that the provider's baseUrl has the right port.",
      }
    case "unknown-host":
      return {
        message: `The host ${place ?? "of the provider"} was not found`,
        hint: "Check the provider's baseUrl, and this machine's network and name server.",
      }
    case "cut":
      return { message: "The connection to the provider was closed before the reply was complete" }
    case "slow":
      return { message: `The connection to ${place ?? "the provider"} could not be made in time` }
    case "certificate":
      return {
        message: "The certificate of the provider's server was not accepted",
        hint: "Check the provider's baseUrl and this machine's clock. A certificate of your own is named in NODE_EXTRA_CA_CERTS.",
      }
    case "protocol":
      return {
        message: "The provider's server answered in another protocol",
        hint: "Check whether the provider's baseUrl must begin with http:// or https://.",
      }
    case "other":
      return { message: `The provider could not be reached${place === undefined ? "" : ` at ${place}`}` }
  }
}

const statusNames: Readonly<Record<number, string>> = {
  408: "the request timed out",
  429: "too many requests",
  498: "no capacity for this service tier",
  499: "the request was given up",
  500: "an error of the server",
  502: "bad gateway",
  503: "not available",
  504: "the gateway timed out",
  520: "an unknown error behind Cloudflare",
  521: "the server behind Cloudflare is down",
  522: "the server behind Cloudflare cannot be connected to",
  523: "the server behind Cloudflare cannot be reached",
  524: "the server behind Cloudflare took too long",
  525: "TLS failed behind Cloudflare",
  526: "the certificate behind Cloudflare is not valid",
  527: "an error behind Cloudflare",
  529: "overloaded",
}

/** What a status without words says. */
export function nameOfStatus(status: number): string {
  return statusNames[status] ?? "no reason given"
}
