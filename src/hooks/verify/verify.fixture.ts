// For the tests of the verifier: a request out of a body and headers, a clock that stands still, the outcome in short.
import { type Clock, type Log, systemClock } from "../../kernel/index.ts"
import pino from "pino"
import { type VerifyRequest, type VerifySettings, createVerifier } from "./index.ts"

export const silentLog: Log = pino({ level: "silent" })

/** 2026-01-02T03:04:05Z */
export const fixedNow = Date.UTC(2026, 0, 2, 3, 4, 5)
export const fixedSeconds = String(fixedNow / 1000)

export function clockAt(now: number): Clock {
  return { ...systemClock, now: () => now }
}

export function request(body: string | Buffer, headers: Record<string, string>, more: Partial<VerifyRequest> = {}) {
  const result: VerifyRequest = {
    rawBody: Buffer.from(body),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    url: "https://hooks.example.com/hooks/mapped",
    method: "POST",
    ...more,
  }
  return result
}

export async function verifyAt(now: number, signed: VerifyRequest, settings: VerifySettings) {
  return await createVerifier({ clock: clockAt(now), log: silentLog }).verifySignature(signed, settings)
}
