// Key pairs of nodes and of the gateway towards them: Ed25519, made once, kept where only their owner reads. The private half
// never leaves its machine.
import { type KeyObject, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto"

export interface KeyPair {
  /** base64url of the raw public key. */
  readonly publicKey: string
  sign(text: Buffer): string
}

/** PKCS 8 as base64, for a file or a row. */
export function newPrivateKey(): string {
  const { privateKey } = generateKeyPairSync("ed25519")
  return privateKey.export({ type: "pkcs8", format: "der" }).toString("base64")
}

/** Throws for what is no such key. */
export function keyPairOf(stored: string): KeyPair {
  const privateKey = createPrivateKey({ key: Buffer.from(stored, "base64"), format: "der", type: "pkcs8" })
  if (privateKey.asymmetricKeyType !== "ed25519") throw new Error("the key is no Ed25519 key")
  const { x } = createPublicKey(privateKey).export({ format: "jwk" })
  return {
    publicKey: x as string,
    sign: (text) => sign(null, text, privateKey).toString("base64url"),
  }
}

/** False for anything that is no key or no signature. */
export function isSignedBy(key: string, text: Buffer, proof: string): boolean {
  const publicKey = readPublicKey(key)
  return publicKey !== undefined && verify(null, text, publicKey, Buffer.from(proof, "base64url"))
}

export function isPublicKey(key: string): boolean {
  return readPublicKey(key) !== undefined
}

function readPublicKey(key: string): KeyObject | undefined {
  if (!/^[\w-]{43}$/.test(key)) return undefined
  try {
    return createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x: key }, format: "jwk" })
  } catch {
    // A point that is not on the curve.
    return undefined
  }
}
