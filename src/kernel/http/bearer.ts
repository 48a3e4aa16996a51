// The gateway token on a request: `Authorization: Bearer <token>`, compared in constant time, failures throttled.
import { AppError } from "../errors.ts"
import type { Secret } from "../secret.ts"
import type { FailureThrottle } from "./throttle.ts"

export function bearerToken(authorization: string | undefined): string | undefined {
  const match = /^bearer +(\S+) *$/i.exec(authorization ?? "")
  return match?.[1]
}

export interface BearerCheck {
  authorization: string | undefined
  token: Secret
  address: string
  throttle: FailureThrottle
}

/** Throws `unauthorized`, or `too-many-failures` with the seconds to wait. */
export function checkBearer(check: BearerCheck): void {
  const candidate = bearerToken(check.authorization)
  if (candidate !== undefined && check.token.matches(candidate)) return
  refuse(check.throttle, check.address, {
    message: candidate === undefined ? "A token is needed" : "The token is wrong",
    hint: "Send the header 'Authorization: Bearer <token>'; the token file is named by: svc status --json",
  })
}

export function refuse(throttle: FailureThrottle, address: string, words: { message: string; hint: string }): never {
  const wait = throttle.fail(address)
  if (wait > 0) {
    throw new AppError("too-many-failures", "Too many wrong secrets from this address", {
      retryAfterSeconds: wait,
      hint: `Wait ${wait} s; a request with the right secret passes at once`,
    })
  }
  throw new AppError("unauthorized", words.message, { hint: words.hint })
}
