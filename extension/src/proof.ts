// The proof that a side has the secret, which itself is never sent.
import { proofText, type Role } from "../../src/browser/relay/contract.ts"

export async function prove(
  secret: string,
  role: Role,
  port: number,
  nonces: { extension: string; relay: string },
): Promise<string> {
  const bytes = new TextEncoder()
  const key = await crypto.subtle.importKey("raw", bytes.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, [
    "sign",
  ])
  const signed = await crypto.subtle.sign("HMAC", key, bytes.encode(proofText(role, port, nonces)))
  return hex(new Uint8Array(signed))
}

export function newNonce(): string {
  return hex(crypto.getRandomValues(new Uint8Array(32)))
}

/** Takes as long for every wrong proof. */
export function isSame(one: string, other: string): boolean {
  if (one.length !== other.length) return false
  let difference = 0
  for (let at = 0; at < one.length; at += 1) difference |= one.charCodeAt(at) ^ other.charCodeAt(at)
  return difference === 0
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")
}
