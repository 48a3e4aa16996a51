// The webhook endpoints: guard -> token or signature (401) -> method (405) -> path (404) -> size (413) -> payload (400)
// -> one durable entry -> 200/202. Accepting never waits for a model, a browser or a network.
import type { IncomingMessage } from "node:http"
import { checkOrigin, errorResponse, jsonResponse } from "../kernel/http/index.ts"
import { AppError, Secret, type Background, type Clock, type Log, type Redactor, toAppError } from "../kernel/index.ts"
import type { IngestEntry, IngestResult, Store } from "../store/index.ts"
import { type AcceptOptions, readIdempotencyKey } from "./accept.ts"
import { type HookAuth, bearerValue, createHookAuth } from "./auth.ts"
import { parsePayload, readHookBody } from "./body.ts"
import { type Delivery, type Proof, publicHeaders, publicQuery } from "./delivery.ts"
import { type HookDeliveryActions, createDeliveryActions } from "./inspect.ts"
import type { CompiledMapping } from "./mapping/compile.ts"
import { subPathOf, unknownPath } from "./path.ts"
import { type ProcessOptions, findTaker, processDelivery, recordRefusal } from "./process.ts"
import { createRecorder } from "./recorder.ts"
import { answerRun, answerWithReply, readWait } from "./results.ts"
import { type HookRuns, type HookRunsOptions, createHookRuns } from "./runs.ts"
import { type HooksView, type Settings, prepareSettings } from "./settings.ts"
import { proveBySignature, type VerifySignature } from "./signature.ts"
import { findAnswer } from "./store.ts"
import { createTransforms } from "./transform/transforms.ts"
import type { VerifyReply } from "./verify/contract.ts"
import { challengeReply } from "./verify/schemes/slack.ts"

export interface HooksOptions extends AcceptOptions {
  /** The configuration in force; asked on each request, so that a change needs no restart. */
  config: () => HooksView
  store: Store
  /** The store's own when unset. */
  ingest?: (entry: IngestEntry) => Promise<IngestResult>
  /** Tells of every job that stops running. */
  onJobStopped: (listener: (runId: string) => void) => () => void
  /** Resolves when these rows of the outbox wait no more, at the latest after the time. */
  waitForDeliveries: HookRunsOptions["waitForDeliveries"]
  /** Without it no signature is ever accepted. */
  verify?: VerifySignature
  /** Absolute path of `hooks.transformsDir`. */
  transformsFolder: () => string
  /** False while the gateway stops: nothing new is taken in. */
  accepting: () => boolean
  clock: Clock
  log: Log
  redactor: Redactor
  background: Background
  /** Callers with tokens of their own; the hook token alone when not given. */
  guests?: HookGuests
  /** Is told of every delivery and of every request without a right secret. */
  audit?: HookAudit
  /** How long a body may take to arrive. */
  bodyTimeoutMs?: number
  /** How long a transform may take. */
  transformTimeLimitMs?: number
}

/** Who has proven to be a sender, and how; the object is a token of its own scope. */
export type HookSender = "hook-token" | "signature" | { id: string; name: string }

export interface HookGuests {
  /** Throws `scope-missing` for a token that is right and not for webhooks; undefined for what is no token. */
  admit(token: string): { id: string; name: string } | undefined
}

export interface HookAudit {
  delivered(delivery: { by: HookSender; mapping: string; outcome: string }): void
  refused(address: string): void
}

export interface Hooks {
  /** The base path in force; undefined while webhooks are off. */
  path(): string | undefined
  /** Answers a request whose raw path is the base or lies below it. Never rejects. */
  handle(request: IncomingMessage): Promise<Response>
  /** Why nothing is under another path, for whoever shows the right token. */
  explain(authorization: string | undefined): AppError | undefined
  /** What the gateway's own API can ask about deliveries. */
  deliveries: HookDeliveryActions
  stop(): Promise<void>
}

const defaultBodyTimeoutMs = 30_000
const drainingRetrySeconds = 5

interface Door {
  options: HooksOptions
  auth: HookAuth
  runs: HookRuns
  process: ProcessOptions
}

export function createHooks(options: HooksOptions): Hooks {
  const { store, clock, log, background } = options
  const transforms = createTransforms({
    folder: options.transformsFolder,
    clock,
    log,
    ...(options.transformTimeLimitMs === undefined ? {} : { timeLimitMs: options.transformTimeLimitMs }),
  })
  const door: Door = {
    options,
    auth: createHookAuth({ clock, log }),
    runs: createHookRuns({ ...options, onStopped: options.onJobStopped }),
    process: {
      ...options,
      ingest: options.ingest ?? ((entry) => store.ingest(entry)),
      findAnswer: (key) => findAnswer(store, key),
      runTransform: transforms.run,
      underWay: new Map(),
      recorder: createRecorder({ store, clock, log, background }),
    },
  }
  let settings: Settings | undefined
  const current = (): Settings | undefined => {
    const view = options.config()
    if (!view.enabled || view.token === undefined) return undefined
    if (settings?.view !== view) settings = prepareSettings(view, view.token, options)
    return settings
  }
  return {
    path: () => current()?.base,
    explain(authorization) {
      const { enabled, token, path } = options.config()
      const value = bearerValue(authorization)
      if (token === undefined || value === undefined || !new Secret(token.trim()).matches(value)) return undefined
      if (!enabled) return new AppError("not-found", "Webhooks are off", { hint: "Set hooks.enabled to true" })
      return new AppError("not-found", `Webhooks are under ${path} here, not under this path`, {
        hint: "Send to the address of hooks.path, or change that key",
      })
    },
    async handle(request) {
      try {
        const inForce = current()
        if (!inForce) throw new AppError("not-found", "Webhooks are off (hooks.enabled)")
        return await receive(door, inForce, request)
      } catch (thrown) {
        return refusal(door, request, thrown)
      }
    },
    deliveries: createDeliveryActions({ ...door.process, store, runs: door.runs, settings: current }),
    async stop() {
      await door.process.recorder.stop()
      await transforms.stop()
    },
  }
}

async function receive(door: Door, settings: Settings, request: IncomingMessage): Promise<Response> {
  const { options, auth } = door
  const beganAt = options.clock.monotonic()
  // A proxy may stand in front, so the Host header is not checked; web pages are refused all the same.
  checkOrigin(request.headers, { port: undefined })
  const [path, query] = splitTarget(request.url ?? "")
  const hasToken = auth.accepts(request, query, settings.token)
  const candidates = hasToken ? [] : signedMappings(settings, path, request.method)
  // Where a signature is asked for, no token but the hook token stands in for it.
  const carried = hasToken || candidates.length > 0 ? undefined : auth.carried(request)
  const guest = carried === undefined ? undefined : options.guests?.admit(carried)
  if (!hasToken && !guest && candidates.length === 0) refuseStranger(door, settings, request, path, beganAt)
  const endpoint = subPathOf(path, settings.base)
  if (endpoint.startsWith("runs/") && isReading(request.method)) {
    const asked = { runId: endpoint.slice("runs/".length), tokenId: guest?.id }
    return secured(answerRun(door.runs, request.method, asked))
  }
  if (request.method === "OPTIONS")
    return secured(new Response(null, { status: 204, headers: { allow: "POST, OPTIONS" } }))
  if (request.method !== "POST") throw new AppError("method-not-allowed", "Webhooks are sent with POST")
  const draft = draftOf(options, request, { endpoint, query, beganAt, hidden: settings.mappings.hiddenAt(endpoint) })
  if (guest) draft.proof = { kind: "token", tokenId: guest.id }
  const tell = (outcome: string) => {
    const by = hasToken ? "hook-token" : (guest ?? (draft.proof.kind === "signature" ? "signature" : undefined))
    if (by !== undefined) options.audit?.delivered({ by, mapping: draft.mapping, outcome })
  }
  try {
    const needed = hasToken || guest ? undefined : candidates
    const response = await deliver(door, settings, request, { draft, query, candidates: needed })
    tell("ok")
    return response
  } catch (thrown) {
    const isProven = hasToken || guest !== undefined || draft.proof.kind === "signature"
    recordRefusal(door.process, draft, thrown, isProven ? undefined : addressOf(request))
    tell(toAppError(thrown).code)
    throw thrown
  }
}

function addressOf(request: IncomingMessage): string {
  return request.socket.remoteAddress ?? "unknown"
}

function draftOf(
  { clock }: HooksOptions,
  request: IncomingMessage,
  parts: { endpoint: string; query: string; beganAt: number; hidden: ReadonlySet<string> },
): Delivery {
  return {
    receivedAt: clock.now(),
    beganAt: parts.beganAt,
    mapping: "",
    path: parts.endpoint,
    method: request.method ?? "",
    headers: publicHeaders(request.headers, parts.hidden),
    query: publicQuery(parts.query, parts.hidden),
    body: Buffer.alloc(0),
    payload: null,
    proof: { kind: "token" },
  }
}

interface Attempt {
  /** Filled in on the way; kept as far as it got when the delivery is refused. */
  draft: Delivery
  query: string
  /** The mappings that a signature could open; undefined when the token was right. */
  candidates: readonly CompiledMapping[] | undefined
}

async function deliver(door: Door, settings: Settings, request: IncomingMessage, attempt: Attempt): Promise<Response> {
  const { options } = door
  const { draft, query, candidates } = attempt
  const isBuiltIn = draft.path === "wake" || draft.path === "agent"
  if (isBuiltIn) draft.mapping = draft.path
  else if (settings.mappings.at(draft.path).length === 0) {
    throw unknownPath()
  }
  if (!options.accepting()) {
    throw new AppError("not-ready", "The gateway is stopping", { retryAfterSeconds: drainingRetrySeconds })
  }
  draft.idempotencyKey = readIdempotencyKey(
    request.headers["idempotency-key"] === undefined ? undefined : request.headersDistinct["idempotency-key"],
  )
  const waitMs = draft.path === "agent" ? readWait(query) : undefined
  draft.body = await readHookBody(request, {
    maxBytes: settings.view.maxBodyBytes,
    timeoutMs: options.bodyTimeoutMs ?? defaultBodyTimeoutMs,
  })
  const proof = candidates ? await prove(door, candidates, request, draft) : draft.proof
  if (proof instanceof Response) return secured(proof)
  draft.proof = proof
  draft.payload = parsePayload(draft.body, request.headers["content-type"], !isBuiltIn)
  const challenge = challengeOf(settings, draft)
  if (challenge) return secured(challenge)
  const outcome = await processDelivery(door.process, settings, draft)
  if (waitMs !== undefined && outcome.runIds[0] !== undefined) {
    return secured(await answerWithReply(door.runs, { outcome, waitMs, request, clock: options.clock }))
  }
  if (outcome.status === 204) {
    return secured(new Response(null, { status: 204, headers: { "cache-control": "no-store" } }))
  }
  return secured(jsonResponse(outcome.answer, outcome.status))
}

/** Slack checks a new address before it signs for it: without `verify` the hook token is the proof. */
function challengeOf(settings: Settings, draft: Delivery): Response | undefined {
  const taker = findTaker(settings, draft)
  const isSlack = taker.kind === "mapping" && taker.mapping.scheme === "slack"
  const reply = isSlack ? challengeReply(draft.payload) : undefined
  return reply && replied(reply)
}

function replied({ status, body, contentType }: VerifyReply): Response {
  return new Response(body, { status, headers: { "content-type": contentType, "cache-control": "no-store" } })
}

function isReading(method: string | undefined): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS"
}

/** The mappings of a path that a signature could open; none for paths that are no plain ones. */
function signedMappings(settings: Settings, path: string, method: string | undefined): readonly CompiledMapping[] {
  if (method !== "POST" || !path.startsWith(`${settings.base}/`)) return []
  const endpoint = path.slice(settings.base.length + 1)
  if (endpoint === "wake" || endpoint === "agent") return []
  return settings.mappings.at(endpoint).filter((mapping) => mapping.verify !== undefined)
}

async function prove(
  door: Door,
  candidates: readonly CompiledMapping[],
  request: IncomingMessage,
  draft: Delivery,
): Promise<Proof | Response> {
  const { options, auth } = door
  const proven =
    options.verify && (await proveBySignature(options.verify, options.log, candidates, request, draft.body))
  if (proven?.kind === "proof") return proven.proof
  if (proven?.kind === "respond") return replied(proven.reply)
  if (proven?.kind === "unavailable") {
    throw new AppError("not-ready", "The signature cannot be checked at the moment", { retryAfterSeconds: 30 })
  }
  door.process.recorder.count("unauthorized")
  draft.mapping = candidates[0]?.id ?? ""
  return auth.refuse(request, "signature")
}

/** Nothing of a stranger's request is kept, unless its path is that of a mapping: then its owner is told of it. */
function refuseStranger(
  door: Door,
  settings: Settings,
  request: IncomingMessage,
  path: string,
  beganAt: number,
): never {
  door.process.recorder.count("unauthorized")
  try {
    return door.auth.refuse(request, "token")
  } catch (thrown) {
    const endpoint = path.slice(settings.base.length + 1)
    const known = settings.mappings.at(endpoint).find((mapping) => mapping.path === endpoint)
    if (known && request.method === "POST") {
      const hidden = settings.mappings.hiddenAt(endpoint)
      const stranger = draftOf(door.options, request, { endpoint, query: "", beganAt, hidden })
      recordRefusal(door.process, { ...stranger, mapping: known.id }, thrown, addressOf(request))
    }
    throw thrown
  }
}

function refusal(door: Door, request: IncomingMessage, thrown: unknown): Response {
  const { options } = door
  const error = toAppError(thrown)
  if (error.code === "unauthorized" || error.code === "too-many-failures") {
    options.audit?.refused(request.socket.remoteAddress ?? "unknown")
  }
  if (error.code !== "unauthorized") door.process.recorder.count(error.code)
  // A full disk and a stop are told once by whoever notices them, not once per request.
  if (error.status >= 500 && error.code !== "not-ready" && error.code !== "storage-full") {
    options.log.error({ err: thrown, code: error.code }, "hook delivery failed")
  }
  const response = secured(errorResponse(error, options.redactor))
  if (error.code === "method-not-allowed") response.headers.set("allow", "POST, OPTIONS")
  if (error.status === 401) response.headers.set("www-authenticate", "Bearer")
  return response
}

function secured(response: Response): Response {
  response.headers.set("x-content-type-options", "nosniff")
  response.headers.set("referrer-policy", "no-referrer")
  return response
}

function splitTarget(target: string): [path: string, query: string] {
  const mark = target.indexOf("?")
  return mark === -1 ? [target, ""] : [target.slice(0, mark), target.slice(mark + 1)]
}
