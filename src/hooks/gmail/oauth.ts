// OAuth of an installed app: consent page address with PKCE, code or refresh token to access token.
// Google's documents: "OAuth 2.0 for Mobile & Desktop Apps". Secrets travel in bodies only, never in an address.
import { createHash } from "node:crypto"
import { AppError, type Clock, type Ids } from "../../kernel/index.ts"
import type { GoogleRoots } from "./contract.ts"
import { type GoogleCaller, GoogleError } from "./google-call.ts"

export interface OAuthClient {
  clientId: string
  /** Desktop clients of Google have one, though it is not kept from anybody who has the app. */
  clientSecret?: string | undefined
}

/** Reads mail; enough for the watch as well. */
export const mailScope = "https://www.googleapis.com/auth/gmail.readonly"
/** Sets up topic and subscription; asked for once, never stored. */
export const cloudScope = "https://www.googleapis.com/auth/cloud-platform"

export interface Consent {
  /** For the person's browser. */
  address: string
  state: string
  codeVerifier: string
  redirectUri: string
}

export interface ConsentRequest {
  roots: GoogleRoots
  client: OAuthClient
  scope: string
  redirectUri: string
  /** A refresh token is wanted, which Google gives only with a consent of its own. */
  offline: boolean
  account?: string | undefined
}

export function startConsent(request: ConsentRequest, ids: Ids): Consent {
  const codeVerifier = ids.token(48)
  const state = ids.token(24)
  const address = new URL("/o/oauth2/v2/auth", request.roots.accounts)
  const query = {
    client_id: request.client.clientId,
    redirect_uri: request.redirectUri,
    response_type: "code",
    scope: request.scope,
    state,
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    code_challenge_method: "S256",
    access_type: request.offline ? "offline" : "online",
    ...(request.offline ? { prompt: "consent" } : {}),
    ...(request.account === undefined ? {} : { login_hint: request.account }),
  }
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value)
  return { address: address.href, state, codeVerifier, redirectUri: request.redirectUri }
}

interface TokenAnswer {
  access_token?: string
  expires_in?: number
  refresh_token?: string
  scope?: string
}

export interface Tokens {
  accessToken: string
  /** Milliseconds since the epoch. */
  expiresAt: number
  refreshToken?: string | undefined
}

interface TokenCall {
  caller: GoogleCaller
  roots: GoogleRoots
  client: OAuthClient
  clock: Clock
  signal?: AbortSignal | undefined
}

export async function exchangeCode(call: TokenCall, consent: Consent, code: string): Promise<Tokens> {
  return await askForToken(call, {
    grant_type: "authorization_code",
    code,
    code_verifier: consent.codeVerifier,
    redirect_uri: consent.redirectUri,
  })
}

/** Throws AppError `unauthorized` when Google no longer takes the refresh token. */
export async function refreshAccess(call: TokenCall, refreshToken: string): Promise<Tokens> {
  return await askForToken(call, { grant_type: "refresh_token", refresh_token: refreshToken })
}

/** Takes a refresh token, and with it all access tokens, out of use. */
export async function revokeToken(call: Omit<TokenCall, "client" | "clock">, token: string): Promise<void> {
  const url = new URL("/revoke", call.roots.oauth).href
  await call.caller.call({ method: "POST", url, body: new URLSearchParams({ token }), signal: call.signal })
}

async function askForToken(call: TokenCall, fields: Record<string, string>): Promise<Tokens> {
  const { clientId, clientSecret } = call.client
  const secret = clientSecret === undefined ? {} : { client_secret: clientSecret }
  const body = new URLSearchParams({ ...fields, client_id: clientId, ...secret })
  try {
    const url = new URL("/token", call.roots.oauth).href
    const answer = await call.caller.call<TokenAnswer>({ method: "POST", url, body, signal: call.signal })
    if (!answer.access_token) throw new AppError("platform-refused", "Google's answer has no access token")
    return {
      accessToken: answer.access_token,
      expiresAt: call.clock.now() + (answer.expires_in ?? 3600) * 1000,
      refreshToken: answer.refresh_token,
    }
  } catch (error) {
    if (error instanceof GoogleError && error.status < 500 && error.status !== 429) {
      throw new AppError("unauthorized", `Google does not take the sign-in (${error.reason})`, {
        cause: error,
        hint: "Sign in again with: svc webhooks gmail setup",
      })
    }
    throw error
  }
}
