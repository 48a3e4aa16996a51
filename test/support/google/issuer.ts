// Signs identity tokens as Google does for push requests, and publishes the keys for them.
import { type JWK, SignJWT, exportJWK, generateKeyPair } from "jose"

export interface IssuerClaims {
  iss?: string
  aud?: string
  email?: string
  email_verified?: boolean
  /** Unix seconds. */
  iat?: number
  exp?: number
}

export interface Issuer {
  /** The published set. */
  keySet(): { keys: JWK[] }
  sign(claims: IssuerClaims, options?: { keyId?: string }): Promise<string>
  /** From now on signs with a new key, which replaces the old one in the set. */
  rotate(): Promise<void>
}

export async function createIssuer(): Promise<Issuer> {
  let number = 0
  let current = await createKey(`key-${number}`)
  return {
    keySet: () => ({ keys: [current.published] }),
    async sign(claims, options = {}) {
      const seconds = Math.floor(Date.now() / 1000)
      const payload = {
        iss: "https://accounts.google.com",
        sub: "1032184632",
        email_verified: true,
        iat: seconds,
        exp: seconds + 3600,
        ...claims,
      }
      const header = { alg: "RS256", kid: options.keyId ?? current.id, typ: "JWT" }
      return await new SignJWT(payload).setProtectedHeader(header).sign(current.privateKey)
    },
    async rotate() {
      number += 1
      current = await createKey(`key-${number}`)
    },
  }
}

async function createKey(id: string) {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true })
  const published: JWK = { ...(await exportJWK(publicKey)), kid: id, alg: "RS256", use: "sig" }
  return { id, privateKey, published }
}
