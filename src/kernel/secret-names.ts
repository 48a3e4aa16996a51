// Which names stand for credentials: of query parameters, headers and configuration keys.

/** As a word of the name: `api_key`, `X-Amz-Signature`, `clientSecret`. */
const telling = /token|secret|passw|signature|credential|authori[sz]ation|cookie|hmac|api[-_.]?key|private[-_.]?key/i
/** Too short to be looked for anywhere; they must stand at the end, by themselves. */
const short = /(?:^|[-_.])(?:key|sig|auth|pass|pwd|jwt|otp)$/i

const shortestTelling = 4
/** Longer ones are no names. */
const longestName = 64

export function isSecretName(name: string): boolean {
  if (name.length > longestName) return false
  return (name.length >= shortestTelling && telling.test(name)) || short.test(name)
}
