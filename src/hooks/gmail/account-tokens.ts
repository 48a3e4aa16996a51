// The access token of the mail account: from the file while it is good, else renewed before it lapses, once for all who
// wait. Every token is made known to the redactor before it is used.
import { AppError, type Clock, type Redactor } from "../../kernel/index.ts"
import type { GoogleRoots } from "./contract.ts"
import type { GmailCredentials, GmailFiles } from "./files.ts"
import { type GoogleCaller, GoogleError } from "./google-call.ts"
import { refreshAccess } from "./oauth.ts"

export interface AccountTokens {
  /** Throws AppError `unauthorized` when nobody is signed in, or Google no longer takes it. */
  accessToken(signal?: AbortSignal): Promise<string>
  /** Calls with the token; once more with a new one when Google says that it is no longer good. */
  withToken<Answer>(work: (accessToken: string) => Promise<Answer>, signal?: AbortSignal): Promise<Answer>
}

/** A token is renewed this long before it lapses, so that it is good when the call arrives. */
const marginMs = 5 * 60_000

export function createAccountTokens(options: {
  files: GmailFiles
  caller: GoogleCaller
  roots: GoogleRoots
  clock: Clock
  redactor: Redactor
}): AccountTokens {
  let refreshing: Promise<string> | undefined
  const renew = async (credentials: GmailCredentials, signal?: AbortSignal): Promise<string> => {
    const { clientId, clientSecret, refreshToken } = credentials
    const tokens = await refreshAccess({ ...options, client: { clientId, clientSecret }, signal }, refreshToken)
    options.redactor.add(tokens.accessToken)
    if (tokens.refreshToken !== undefined) options.redactor.add(tokens.refreshToken)
    // Somebody may have signed in anew, or out, meanwhile: what they wrote stays.
    if (options.files.credentials.read()?.refreshToken === refreshToken) {
      options.files.credentials.write({
        ...credentials,
        accessToken: tokens.accessToken,
        expiresAt: tokens.expiresAt,
        refreshToken: tokens.refreshToken ?? refreshToken,
      })
    }
    return tokens.accessToken
  }
  const get = async (signal?: AbortSignal, unusable?: string): Promise<string> => {
    const credentials = options.files.credentials.read()
    if (!credentials) {
      throw new AppError("unauthorized", "Nobody is signed in to Gmail", { hint: "Run: svc webhooks gmail setup" })
    }
    const { accessToken, clientSecret, expiresAt = 0, refreshToken } = credentials
    for (const secret of [accessToken, clientSecret, refreshToken]) if (secret) options.redactor.add(secret)
    const good = accessToken !== undefined && expiresAt - marginMs > options.clock.now() && accessToken !== unusable
    if (good) return accessToken
    refreshing ??= renew(credentials, signal).finally(() => (refreshing = undefined))
    return await refreshing
  }
  return {
    accessToken: (signal) => get(signal),
    async withToken(work, signal) {
      const first = await get(signal)
      try {
        return await work(first)
      } catch (error) {
        if (!(error instanceof GoogleError) || error.status !== 401) throw error
        return await work(await get(signal, first))
      }
    },
  }
}
