// What a stand-in has issued and real providers want back: signed reasoning, calls, encrypted items. Rules compare
// what comes back with it. Without a memory they check the form alone.
import type { Json } from "../../../src/kernel/index.ts"

export type IssuedPart =
  /** `signature` is the provider's proof of the text: a signature, the encrypted item, or the data of a redacted one. */
  | { type: "reasoning"; text: string; signature: string; redacted: boolean }
  | { type: "text"; text: string }
  | { type: "call"; id: string; name: string; input: Json; rawInput?: string; signature?: string }

export interface IssuedReply {
  id: string
  parts: readonly IssuedPart[]
}

export type IssuedReasoning = Extract<IssuedPart, { type: "reasoning" }>

export interface Issued {
  add(reply: IssuedReply): void
  /** The latest reply that issued this call. */
  byCall(id: string): IssuedReply | undefined
  bySignature(signature: string): IssuedReasoning | undefined
  /** The signature that was put on a call or on reasoning. */
  knowsSignature(signature: string): boolean
  /** False as long as nothing was issued: then no signature can be judged. */
  hasSignatures(): boolean
}

export function createIssued(): Issued {
  const byCall = new Map<string, IssuedReply>()
  const bySignature = new Map<string, IssuedReasoning>()
  const signatures = new Set<string>()
  return {
    add(reply) {
      for (const part of reply.parts) {
        if (part.type === "call") byCall.set(part.id, reply)
        if (part.type === "reasoning") bySignature.set(part.signature, part)
        if (part.type !== "text" && part.signature !== undefined) signatures.add(part.signature)
      }
    },
    byCall: (id) => byCall.get(id),
    bySignature: (signature) => bySignature.get(signature),
    knowsSignature: (signature) => signatures.has(signature),
    hasSignatures: () => signatures.size > 0,
  }
}

/** Id of the Responses item that carries a part of a reply. */
export function itemId(reply: IssuedReply, index: number): string {
  const prefixes = { reasoning: "rs", text: "msg", call: "fc" } as const
  const part = reply.parts[index]
  return `${prefixes[part?.type ?? "text"]}_${reply.id}-${index}`
}
