// Credentials -> an access token, in one request: a signed assertion, a refresh token, or the word of the machine that
// the cloud runs this on.
import { createPrivateKey, type KeyObject } from "node:crypto"
import { SignJWT } from "jose"
import { z } from "zod"
import { AppError, type Clock } from "../../kernel/index.ts"
import { ProviderRefusal } from "../providers/contract.ts"
import type { AuthorizedUser, Credentials, ServiceAccount } from "./credentials.ts"

export interface FreshToken {
  token: string
  /** Milliseconds since the epoch. */
  expiresAt: number
}

export interface ExchangeParts {
  clock: Clock
  fetch: typeof fetch
  signal: AbortSignal
}

const scope = "https://www.googleapis.com/auth/cloud-platform"
/** The longest that the other side allows. */
const assertionSeconds = 3600

const answer = z.object({ access_token: z.string().min(1), expires_in: z.number().positive() })

/** Throws `model-key-missing` when the credentials are refused, `ProviderRefusal` when asking again may help. */
export async function exchange(credentials: Credentials, parts: ExchangeParts): Promise<FreshToken> {
  const isService = credentials.type === "service_account"
  const body = new URLSearchParams(
    isService ? await assertionFields(credentials, parts.clock) : refreshFields(credentials),
  )
  const response = await parts.fetch(credentials.token_uri, { method: "POST", body, signal: parts.signal })
  const hint = isService
    ? "Make a new key of the service account, and check the clock of this machine."
    : "Sign in again with `gcloud auth application-default login`."
  return await readToken(response, parts.clock, hint)
}

/** The machine's own account. Throws `model-key-missing` when the answer is not the metadata server's. */
export async function askMachine(host: string, parts: ExchangeParts): Promise<FreshToken> {
  const url = `http://${host}/computeMetadata/v1/instance/service-accounts/default/token`
  const headers = { "metadata-flavor": "Google" }
  const response = await parts.fetch(url, { headers, signal: parts.signal })
  if (response.headers.get("metadata-flavor") !== "Google") {
    await response.body?.cancel()
    throw new AppError("model-key-missing", "What answers at the metadata host is not Google's metadata server")
  }
  return await readToken(response, parts.clock, "Give the machine a service account that may use Vertex AI.")
}

async function assertionFields(account: ServiceAccount, clock: Clock): Promise<Record<string, string>> {
  const now = Math.floor(clock.now() / 1000)
  const assertion = await new SignJWT({ scope })
    .setProtectedHeader({
      alg: "RS256",
      typ: "JWT",
      ...(account.private_key_id ? { kid: account.private_key_id } : {}),
    })
    .setIssuer(account.client_email)
    .setAudience(account.token_uri)
    .setIssuedAt(now)
    .setExpirationTime(now + assertionSeconds)
    .sign(privateKey(account))
  return { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion }
}

function privateKey(account: ServiceAccount): KeyObject {
  try {
    return createPrivateKey(account.private_key)
  } catch (error) {
    throw new AppError("model-key-missing", `The key of ${account.client_email} cannot be read`, {
      cause: error,
      hint: "Download the key file of the service account again.",
    })
  }
}

function refreshFields(user: AuthorizedUser): Record<string, string> {
  const { client_id, client_secret, refresh_token } = user
  return { grant_type: "refresh_token", client_id, client_secret, refresh_token }
}

async function readToken(response: Response, clock: Clock, hint: string): Promise<FreshToken> {
  const text = (await response.text()).slice(0, 16 * 1024)
  if (!response.ok) throw refusal(response, text, hint)
  const parsed = answer.safeParse(parseOrUndefined(text))
  if (!parsed.success) {
    throw new AppError("model-failed", "Google's answer has no access token", {
      hint: "Check the token_uri of the credentials file.",
    })
  }
  return { token: parsed.data.access_token, expiresAt: clock.now() + parsed.data.expires_in * 1000 }
}

function refusal(response: Response, text: string, hint: string): Error {
  const { status } = response
  if (status >= 500 || status === 408 || status === 429) {
    return new ProviderRefusal({ status, headers: Object.fromEntries(response.headers), body: text })
  }
  const reason = z.object({ error: z.string().regex(/^[\w-]{1,60}$/) }).safeParse(parseOrUndefined(text))
  const told = reason.success ? reason.data.error : `HTTP ${status}`
  return new AppError("model-key-missing", `Google does not take the credentials (${told})`, { hint })
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
