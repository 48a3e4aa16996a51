// Secrets of Standard Webhooks, which sign what comes in and what goes out: `whsec_` and base64.

export const secretPrefix = "whsec_"

/** Why a secret cannot be used, or undefined. An empty key would let everybody sign. */
export function signingSecretProblem(secret: string): string | undefined {
  if (!secret.startsWith(secretPrefix)) return undefined
  const text = secret.slice(secretPrefix.length)
  const wellFormed = /^[A-Za-z0-9+/]+={0,2}$/.test(text) && Buffer.from(text, "base64").length > 0
  return wellFormed ? undefined : 'must be base64 after "whsec_"'
}
