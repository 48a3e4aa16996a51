// Brings the authorization code from the person's browser: by a listener on 127.0.0.1 that lives for one answer, or by
// pasting the address that the browser ended at. The `state` shows that the answer belongs to our question.
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { AppError, type Clock, type Ids, type Redactor, Secret, raceAbort, runWithTimeout } from "../../kernel/index.ts"
import type { GoogleRoots } from "./contract.ts"
import type { GoogleCaller } from "./google-call.ts"
import {
  type Consent,
  type ConsentRequest,
  type OAuthClient,
  type Tokens,
  exchangeCode,
  startConsent,
} from "./oauth.ts"

export interface SignInOptions {
  caller: GoogleCaller
  roots: GoogleRoots
  clock: Clock
  ids: Ids
  redactor: Redactor
  client: OAuthClient
  scope: string
  offline: boolean
  account?: string | undefined
  /** Asks the person to paste the address; undefined listens on loopback. */
  paste?: ((question: string) => Promise<string>) | undefined
  /** Shows the person where to go. */
  show: (address: string) => void
  signal?: AbortSignal | undefined
}

const answerTimeoutMs = 10 * 60_000
/** Nothing listens there: the browser shows an error page, whose address is what is pasted. */
const pastedRedirect = "http://127.0.0.1:1/"

export async function signIn(options: SignInOptions): Promise<Tokens> {
  const request: Omit<ConsentRequest, "redirectUri"> = options
  if (!options.paste) return await signInByLoopback(options, request)
  const consent = startConsent({ ...request, redirectUri: pastedRedirect }, options.ids)
  options.show(consent.address)
  const pasted = (await options.paste("Paste the address that the browser ended at: ")).trim()
  return await exchange(options, consent, readAnswer(pasted, consent))
}

async function exchange(options: SignInOptions, consent: Consent, code: string): Promise<Tokens> {
  for (const secret of [code, consent.codeVerifier]) options.redactor.add(secret)
  const tokens = await exchangeCode(options, consent, code)
  for (const secret of [tokens.accessToken, tokens.refreshToken]) if (secret) options.redactor.add(secret)
  return tokens
}

/** A code alone is taken too: it was pasted by the person who was asked. An address must carry our state. */
function readAnswer(pasted: string, consent: Consent): string {
  if (!URL.canParse(pasted)) return codeOf(new URLSearchParams({ code: pasted, state: consent.state }), consent)
  return codeOf(new URL(pasted).searchParams, consent)
}

/** Throws AppError `unauthorized` when the person refused, or the answer is not to our question. */
function codeOf(answer: URLSearchParams, consent: Consent): string {
  if (!new Secret(consent.state).matches(answer.get("state") ?? "")) {
    throw new AppError("unauthorized", "The answer does not belong to this sign-in", { hint: "Begin again" })
  }
  const error = answer.get("error")
  if (error !== null) throw new AppError("unauthorized", `Google says: ${error.slice(0, 100)}`)
  const code = answer.get("code")
  if (code) return code
  throw new AppError("unauthorized", "The answer has no code")
}

async function signInByLoopback(options: SignInOptions, request: Omit<ConsentRequest, "redirectUri">): Promise<Tokens> {
  const arrived = Promise.withResolvers<URLSearchParams>()
  let consent: Consent | undefined
  const server = createServer((incoming, response) => {
    const answer = new URL(incoming.url ?? "/", "http://127.0.0.1").searchParams
    const isOurs = consent !== undefined && new Secret(consent.state).matches(answer.get("state") ?? "")
    response.writeHead(isOurs ? 200 : 404, {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      connection: "close",
    })
    response.end(isOurs ? "You can close this page and go back to the terminal.\n" : "Not found\n")
    // Other programs and pages may knock; only the answer to our question ends the wait.
    if (isOurs) arrived.resolve(answer)
  })
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject).listen(0, "127.0.0.1", resolve)
    })
    const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const asked = startConsent({ ...request, redirectUri }, options.ids)
    consent = asked
    options.show(asked.address)
    const wait = (signal: AbortSignal) => raceAbort(arrived.promise, signal)
    const answer = await runWithTimeout(answerTimeoutMs, "the sign-in in the browser", wait, options.signal)
    return await exchange(options, asked, codeOf(answer, asked))
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
