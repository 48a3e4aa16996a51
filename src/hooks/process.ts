// A proven delivery -> its endpoint or mapping -> actions -> one durable entry -> the answer.
// The same road for a live request, for a replay, and (up to the actions) for a dry run.
import { createHash } from "node:crypto"
import {
  AppError,
  type Clock,
  type Json,
  type JsonObject,
  type Log,
  isJsonObject,
  toAppError,
} from "../kernel/index.ts"
import type { IngestEntry, IngestResult } from "../store/index.ts"
import { type AcceptOptions, type DeliveryKey, acceptActions } from "./accept.ts"
import type { HookAction } from "./action.ts"
import type { Delivery } from "./delivery.ts"
import type { CompiledMapping } from "./mapping/compile.ts"
import { planDelivery, selectMapping } from "./mapping/plan.ts"
import { agentAction, wakeAction } from "./payload.ts"
import type { Recorder } from "./recorder.ts"
import { unknownPath } from "./path.ts"
import type { Settings } from "./settings.ts"
import { type DeliveryRecord, deliveryRow } from "./store.ts"
import { type TemplateValues, lookUp } from "./template.ts"
import type { RunTransform } from "./transform/contract.ts"

export interface ProcessOptions extends AcceptOptions {
  ingest: (entry: IngestEntry) => Promise<IngestResult>
  /** First answer of a delivery that is known already. */
  findAnswer: (key: DeliveryKey) => { answer: Json } | undefined
  runTransform: RunTransform
  /** Deliveries that a transform shapes, by what they are known again by. */
  underWay: Map<string, Promise<void>>
  recorder: Recorder
  clock: Clock
  log: Log
}

export interface Outcome {
  status: number
  answer: JsonObject
  /** Runs of this delivery, also when it is a repeat. */
  runIds: string[]
}

/** Who takes a delivery, before anything is made of it. */
export type Taker =
  | { kind: "wake"; id: "wake"; shareHistory: boolean }
  | { kind: "agent"; id: "agent"; shareHistory: boolean }
  | { kind: "mapping"; id: string; mapping: CompiledMapping }

/** Throws what the sender is to be told. */
export async function processDelivery(
  options: ProcessOptions,
  settings: Settings,
  delivery: Delivery,
): Promise<Outcome> {
  const taker = findTaker(settings, delivery)
  delivery.mapping = taker.id
  return await accept(options, settings, delivery, taker)
}

/** Throws `not-found`, or `unauthorized` when a signature is not that of the mapping which matches. */
export function findTaker(settings: Settings, delivery: Delivery): Taker {
  const { path, proof } = delivery
  const { shareHistory = false } = settings.view
  if (path === "wake") return { kind: "wake", id: "wake", shareHistory }
  if (path === "agent") return { kind: "agent", id: "agent", shareHistory }
  const mapping = selectMapping(settings.mappings.at(path), delivery.payload)
  if (!mapping) throw unknownPath()
  if (proof.kind === "signature" && mapping.verifyKey !== proof.verifyKey) {
    throw new AppError("unauthorized", "The signature is not one for this delivery")
  }
  return { kind: "mapping", id: mapping.id, mapping }
}

/** What a delivery asks for; nothing has happened yet, apart from the mapping's own transform. */
export async function planActions(
  options: Pick<ProcessOptions, "runTransform">,
  delivery: Delivery,
  taker: Taker,
): Promise<readonly HookAction[]> {
  if (taker.kind !== "mapping") {
    const shared = taker.shareHistory ? { shareHistory: true as const } : {}
    const action = taker.kind === "wake" ? wakeAction(delivery.payload) : agentAction(delivery.payload)
    return [{ ...action, ...shared }]
  }
  return (await planDelivery(options, taker.mapping, templateValues(delivery))).actions
}

async function accept(options: ProcessOptions, settings: Settings, delivery: Delivery, taker: Taker): Promise<Outcome> {
  const key = deliveryKey(options, settings, delivery, taker)
  if (taker.kind !== "mapping" || !taker.mapping.transform) return await takeIn(options, delivery, taker, key)
  // Code of the owner's may have effects of its own: a repeat does not call it again, nor one that comes meanwhile.
  return await inTurn(options.underWay, JSON.stringify([key.account, key.deliveryId]), async () => {
    const known = options.findAnswer(key)
    if (known) return repeated(options, delivery, taker, key, known.answer)
    return await takeIn(options, delivery, taker, key)
  })
}

/** One after the other of those with the same name. */
async function inTurn<T>(underWay: Map<string, Promise<void>>, name: string, work: () => Promise<T>): Promise<T> {
  for (let other = underWay.get(name); other; other = underWay.get(name)) await other
  const { promise, resolve } = Promise.withResolvers<void>()
  underWay.set(name, promise)
  try {
    return await work()
  } finally {
    underWay.delete(name)
    resolve()
  }
}

async function takeIn(options: ProcessOptions, delivery: Delivery, taker: Taker, key: DeliveryKey): Promise<Outcome> {
  const actions = await planActions(options, delivery, taker)
  const tokenId = delivery.proof.kind === "token" ? delivery.proof.tokenId : undefined
  const { entry, answer, status, runIds } = await acceptActions(options, key, actions, { mapping: taker.id, tokenId })
  const tookMs = options.clock.monotonic() - delivery.beganAt
  const verdict = actions.length === 0 ? "skipped" : "accepted"
  entry.rows = [deliveryRow({ delivery, verdict, status, runIds, answer, tookMs })]
  const result = await options.ingest(entry)
  if (result.kind === "duplicate") return repeated(options, delivery, taker, key, result.answer)
  if (taker.id === "wake") options.log.debug({ mode: answer["mode"] }, "hook wake accepted")
  else options.log.info({ mapping: taker.id, runs: runIds, skipped: status === 204 }, "hook delivery accepted")
  return { status, answer, runIds }
}

function repeated(options: ProcessOptions, delivery: Delivery, taker: Taker, key: DeliveryKey, first: Json): Outcome {
  options.log.info({ mapping: taker.id, delivery: key.deliveryId }, "hook delivery repeated")
  const answer = { ...(isJsonObject(first) ? first : {}), duplicate: true }
  const status = "skipped" in answer ? 204 : 200
  const runIds = runIdsOf(first)
  const tookMs = options.clock.monotonic() - delivery.beganAt
  options.recorder.keep({ delivery, verdict: "duplicate", status, runIds, answer, tookMs })
  return { status, answer, runIds }
}

function runIdsOf(answer: Json): string[] {
  if (!isJsonObject(answer)) return []
  const { runIds, runId } = answer
  if (Array.isArray(runIds)) return runIds.filter((id) => typeof id === "string")
  return typeof runId === "string" ? [runId] : []
}

/** `stranger` is the address of a sender that has proven nothing. */
export function recordRefusal(options: ProcessOptions, delivery: Delivery, thrown: unknown, stranger?: string): void {
  const error = toAppError(thrown)
  const record: DeliveryRecord = {
    delivery,
    verdict: error.status >= 500 ? "failed" : "refused",
    status: error.status,
    runIds: [],
    answer: null,
    error: `${error.code}: ${error.message}`,
    tookMs: options.clock.monotonic() - delivery.beganAt,
  }
  if (stranger === undefined) options.recorder.keep(record)
  else options.recorder.keepStranger(record, stranger)
}

export function templateValues(delivery: Delivery): TemplateValues {
  const { payload, headers, query, path } = delivery
  return { payload, headers, query, path, now: new Date(delivery.receivedAt).toISOString() }
}

const maxIdCharacters = 255

/**
 * What a delivery is known again by. Under a signature only what the signature covers counts: an id that anybody could
 * change gives way to the hash of the body.
 */
function deliveryKey(options: ProcessOptions, settings: Settings, delivery: Delivery, taker: Taker): DeliveryKey {
  const { proof } = delivery
  const scope = proof.kind === "signature" ? proof.secretId : (proof.tokenId ?? settings.tokenScope)
  const account = `${taker.kind === "mapping" ? "mapping:" : ""}${taker.id}:${scope}`
  const id = delivery.replayOf === undefined ? ownId(delivery, taker) : delivery.idempotencyKey
  if (id === undefined) return { account, deliveryId: options.ids.uuid() }
  return { account, deliveryId: id.length <= maxIdCharacters ? id : sha256(id) }
}

function ownId(delivery: Delivery, taker: Taker): string | undefined {
  const { proof, idempotencyKey } = delivery
  if (taker.kind !== "mapping") return idempotencyKey
  const { mapping } = taker
  const body = () => (mapping.dedupe ? `sha256:${sha256(delivery.body)}` : undefined)
  if (proof.kind === "signature") {
    return proof.deliveryId !== undefined && (proof.signedId || !proof.bodySigned) ? proof.deliveryId : body()
  }
  const named = mapping.idFrom === undefined ? undefined : lookUp(templateValues(delivery), mapping.idFrom)
  const id = typeof named === "string" || typeof named === "number" ? String(named) : ""
  return id === "" ? (idempotencyKey ?? body()) : id
}

function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex")
}
