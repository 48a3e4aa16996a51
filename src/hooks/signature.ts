// Proof by signature: each of the distinct `verify` settings that a path's mappings have is tried on the raw bytes.
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import { type Log, describeError } from "../kernel/index.ts"
import type { HookVerifyConfig } from "./config.ts"
import type { Proof } from "./delivery.ts"
import type { CompiledMapping } from "./mapping/compile.ts"

export interface SignedRequest {
  rawBody: Buffer
  headers: IncomingHttpHeaders
  rawHeaders: readonly string[]
  /** As the sender addressed it, as far as this process can know. */
  url: string
  method: string
}

export type SignatureResult =
  | {
      ok: true
      deliveryId?: string
      signedId: boolean
      bodySigned: boolean
      secretId: string
      respond?: { status: number; body: string; contentType: string }
    }
  | { ok: false; reason: string; temporary?: true }

export type VerifySignature = (request: SignedRequest, settings: HookVerifyConfig) => Promise<SignatureResult>

type Proven =
  | { kind: "proof"; proof: Proof }
  | { kind: "respond"; reply: { status: number; body: string; contentType: string } }
  /** Ours is the fault: the sender may try again. */
  | { kind: "unavailable" }

/** Undefined when no signature holds. Reasons are for the log alone. */
export async function proveBySignature(
  verify: VerifySignature,
  log: Log,
  candidates: readonly CompiledMapping[],
  request: IncomingMessage,
  rawBody: Buffer,
): Promise<Proven | undefined> {
  const signed: SignedRequest = {
    rawBody,
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    url: `http://${request.headers.host ?? "localhost"}${request.url ?? ""}`,
    method: request.method ?? "POST",
  }
  const tried = new Set<string>()
  let unavailable = false
  for (const { id, verify: settings, verifyKey } of candidates) {
    if (!settings || verifyKey === undefined || tried.has(verifyKey)) continue
    tried.add(verifyKey)
    const result = await tryOne(verify, log, id, signed, settings)
    if (result === undefined) continue
    if (!result.ok) {
      unavailable ||= result.temporary === true
      const about = { mapping: id, scheme: settings.scheme, reason: result.reason }
      // What cannot be checked is our own trouble, and turns good deliveries away.
      if (result.temporary) log.warn(about, "hook signature cannot be checked")
      else log.info(about, "hook signature refused")
      continue
    }
    if (result.respond) return { kind: "respond", reply: result.respond }
    const { deliveryId, signedId, bodySigned, secretId } = result
    const proof: Proof = { kind: "signature", verifyKey, signedId, bodySigned, secretId }
    if (deliveryId !== undefined) proof.deliveryId = deliveryId
    return { kind: "proof", proof }
  }
  return unavailable ? { kind: "unavailable" } : undefined
}

/** Settings that cannot be used refuse everything; other mappings of the path still have their say. */
async function tryOne(
  verify: VerifySignature,
  log: Log,
  mapping: string,
  request: SignedRequest,
  settings: HookVerifyConfig,
): Promise<SignatureResult | undefined> {
  try {
    return await verify(request, settings)
  } catch (error) {
    log.error({ mapping, scheme: settings.scheme, reason: describeError(error) }, "hook signature not checked")
    return undefined
  }
}
