// Google's push services (Pub/Sub among them): `Authorization: Bearer <JWT>`, RS256, signed by Google's published keys.
// Everybody can have Google sign a token for any audience, so the service account is checked as well. The token says
// nothing about the body.
import { type JWTPayload, errors, jwtVerify } from "jose"
import { AppError } from "../../../kernel/index.ts"
import { equalText } from "../compare.ts"
import { type Scheme, type SchemeInput, type SchemeVerdict, type VerifySettings, refused } from "../contract.ts"
import { deliveryId, textAt } from "../delivery-id.ts"
import type { KeyFinder, KeySets, KeySource } from "../key-set.ts"

export const googleKeySetUrl = "https://www.googleapis.com/oauth2/v3/certs"
const issuers = ["https://accounts.google.com", "accounts.google.com"]
/** Tokens live for an hour; more than a clock's error is not forgiven. */
const maxClockToleranceSeconds = 60
/** Google's tokens have about 900 characters. */
const maxTokenCharacters = 8_192

export function createGoogleOidc(keySets: KeySets): Scheme {
  return {
    headers: () => ["authorization"],
    async verify(input) {
      const token = /^Bearer +([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(input.header("authorization") ?? "")?.[1]
      if (token === undefined || token.length > maxTokenCharacters) return refused("the bearer token is missing")
      try {
        const claims = await verifyToken(token, input, keySets)
        return checkEmail(claims, input)
      } catch (error) {
        return explain(error)
      }
    },
  }
}

export function expectedAudience(settings: VerifySettings): string | undefined {
  return settings.audience ?? settings.publicUrl
}

function keySource(settings: VerifySettings): KeySource {
  if (settings.keySetFile !== undefined) return { kind: "file", path: settings.keySetFile }
  return { kind: "url", url: settings.keySetUrl ?? googleKeySetUrl }
}

async function verifyToken(token: string, input: SchemeInput, keySets: KeySets): Promise<JWTPayload> {
  const source = keySource(input.settings)
  const check = async (keys: KeyFinder) => {
    const { payload } = await jwtVerify(token, keys, {
      algorithms: ["RS256"],
      issuer: issuers,
      audience: expectedAudience(input.settings) as string,
      requiredClaims: ["exp", "iat", "email"],
      clockTolerance: Math.min(maxClockToleranceSeconds, input.toleranceMs / 1000),
      currentDate: new Date(input.now),
    })
    return payload
  }
  try {
    return await check(await keySets.keys(source))
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
    return await check(await keySets.refreshed(source))
  }
}

function checkEmail(claims: JWTPayload, { json, settings }: SchemeInput): SchemeVerdict {
  const expected = settings.email as string
  const email = claims["email"]
  if (typeof email !== "string" || !equalText(email.toLowerCase(), expected.toLowerCase())) {
    return refused("the token is of another account")
  }
  if (claims["email_verified"] !== true) return refused("the token's account is not verified")
  return {
    kind: "valid",
    secret: `${expectedAudience(settings)} ${expected}`,
    bodySigned: false,
    id: deliveryId(textAt(json(), "message", "messageId"), false),
  }
}

function explain(error: unknown): SchemeVerdict {
  if (error instanceof AppError) return { kind: "refused", reason: error.message, temporary: true }
  if (error instanceof errors.JWTExpired) return refused("the token has expired")
  if (error instanceof errors.JWTClaimValidationFailed) return refused(`the token's ${error.claim} is wrong`)
  if (error instanceof errors.JOSEError) return refused(`the token is not valid (${error.code})`)
  throw error
}
