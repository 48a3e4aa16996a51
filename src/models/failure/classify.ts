// Anything that a provider call throws -> what it means: try again, wait how long, mend the request, give up, and what
// to tell whom. Keeps no request, no body and no headers, so that neither prompts nor keys reach a log through it.
import type { AppError, Redactor } from "../../kernel/index.ts"
import { cleanWords, shorten } from "./clean.ts"
import type { Failure, FailureKind } from "./contract.ts"
import { readLimit } from "./context-words.ts"
import { gather, type Evidence, type ProviderAnswer } from "./evidence.ts"
import type { NetworkCause } from "./network.ts"
import { chatMessageOf, hintOf, nameOfStatus, tellNetwork } from "./tell.ts"
import { judge, type Verdict } from "./verdict.ts"
import { readWait } from "./wait.ts"

interface Context {
  /** Milliseconds since 1970. */
  now: number
  redactor: Redactor
}

const maxMessageCharacters = 300

export function classifyFailure(error: unknown, context: Context): Failure {
  const evidence = gather(error)
  switch (evidence.source) {
    case "provider":
      return ofProvider(evidence.answer, context)
    case "network":
      return ofNetwork(evidence.network)
    case "own":
      return ofOwn(evidence.error, context)
    case "silence":
      return plain({ kind: "silent" }, "The provider sent nothing for too long")
    case "redirect":
      return plain(
        { kind: "refused", because: "page" },
        "The provider's address sends requests on to another one",
        "Set the provider's baseUrl to the address that answers itself.",
      )
    case "request": {
      const words = clean(evidence.words, context, evidence.kind === "key")
      return plain({ kind: evidence.kind }, words === "" ? "The request could not be made" : words)
    }
    case "empty":
      return plain({ kind: "empty" }, "The provider's reply had nothing in it")
    case "unreadable":
      return ofUnreadable(evidence, context)
  }
}

function ofProvider(answer: ProviderAnswer, context: Context): Failure {
  const verdict = judge(answer)
  const { status, cause } = answer
  const failure: Failure = {
    ...plain(verdict, messageOf(answer, verdict, context), hintOf(verdict, cause.words)),
    otherKeyMayHelp: mayOtherKeyHelp(verdict, status),
  }
  if (status !== undefined) failure.status = status
  const code = cause.code === undefined ? "" : context.redactor.redact(cause.code)
  if (/^[\w.:-]{1,64}$/.test(code)) failure.code = code
  const wait = readWait(answer.headers, answer.body, context.now, status)
  // The limit of a day with no wait named, or Google's few seconds for it, would be asked again in vain.
  failure.retryable =
    verdict.kind === "busy" && (verdict.because !== "day" || (wait !== undefined && !isOfGoogle(answer)))
  if (failure.retryable && wait !== undefined) failure.retryAfterMs = wait
  const limit = verdict.kind === "context" ? (cause.limit ?? readLimit(cause.words)) : undefined
  if (limit !== undefined) {
    failure.contextLimit = limit
    failure.isLasting = verdict.because !== "minute"
  }
  return failure
}

function isOfGoogle({ cause }: ProviderAnswer): boolean {
  return cause.codes.includes("resource_exhausted")
}

function mayOtherKeyHelp({ kind, because }: Verdict, status: number | undefined): boolean {
  if (because === "region" || because === "page") return false
  return (
    kind === "key" ||
    kind === "credit" ||
    (kind === "busy" && (status === 429 || because === "limit" || because === "day"))
  )
}

function messageOf({ status, cause }: ProviderAnswer, verdict: Verdict, context: Context): string {
  const words = clean(cause.words, context, verdict.kind === "key")
  const said = cause.isPage
    ? `a web page answered${words === "" ? "" : ` ("${words}")`}`
    : words !== ""
      ? words
      : (cause.code ??
        (status === undefined ? "The provider reported an error without a reason" : nameOfStatus(status)))
  return shorten(status === undefined ? said : `HTTP ${status}: ${said}`, maxMessageCharacters)
}

function clean(words: string, { redactor }: Context, isAboutKey: boolean): string {
  return cleanWords(words, { redactor, isAboutKey, maxCharacters: maxMessageCharacters })
}

function ofNetwork({ trouble, code, place }: NetworkCause): Failure {
  const told = tellNetwork(trouble, place)
  const failure = plain({ kind: "network" }, code === undefined ? told.message : `${told.message} (${code})`, told.hint)
  if (code !== undefined) failure.code = code
  // A certificate does not become valid in a few seconds.
  failure.retryable = trouble !== "certificate"
  return failure
}

const kindOfOwn: Readonly<Partial<Record<AppError["code"], FailureKind>>> = {
  timeout: "silent",
  "model-key-missing": "key",
  "model-unknown": "unknown-model",
}

function ofOwn(error: AppError, context: Context): Failure {
  return plain({ kind: kindOfOwn[error.code] ?? "broken" }, clean(error.message, context, false), error.hint)
}

function ofUnreadable({ words, mayPass }: Evidence & { source: "unreadable" }, context: Context): Failure {
  const detail = clean(words, context, false)
  const message = "The provider's reply could not be read"
  const failure = plain(
    { kind: "broken" },
    shorten(detail === "" ? message : `${message}: ${detail}`, maxMessageCharacters),
  )
  failure.retryable = mayPass
  return failure
}

function plain(verdict: Verdict, message: string, hint?: string): Failure {
  const next = hint ?? hintOf(verdict, message)
  return {
    kind: verdict.kind,
    message,
    chatMessage: chatMessageOf(verdict),
    ...(next === undefined ? {} : { hint: next }),
    retryable: false,
    otherKeyMayHelp: verdict.kind === "key",
    ...(verdict.because === "page" ? { isElsewhere: true } : {}),
  }
}
