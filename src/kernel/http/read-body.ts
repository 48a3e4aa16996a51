// Reads a request body up to a limit and a time. Over the limit the rest is drained (bounded) before the error is
// thrown, so that the client can read the 413 instead of seeing a reset connection.
import type { IncomingMessage } from "node:http"
import { AppError } from "../errors.ts"
import { type Json, parseJson } from "../json.ts"

export interface BodyLimits {
  maxBytes: number
  timeoutMs: number
}

/** How much of an oversized body is read and thrown away, and for how long, before the connection is given up. */
const drainBytes = 16 * 1024 * 1024
const drainMs = 3_000

export async function readBody(request: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const declared = Number(request.headers["content-length"] ?? 0)
  if (declared > limits.maxBytes) {
    await drain(request)
    throw tooLarge(limits.maxBytes)
  }
  const outcome = await collect(request, limits)
  if (outcome.kind === "complete") return outcome.body
  if (outcome.kind === "too-large") {
    await drain(request)
    throw tooLarge(limits.maxBytes)
  }
  if (outcome.kind === "too-slow") {
    throw new AppError("request-timeout", `The body did not arrive within ${limits.timeoutMs / 1000} s`)
  }
  throw new AppError("bad-request", "The connection was cut before the whole body arrived")
}

/** The body as JSON, whatever its Content-Type says; an empty body is `{}`. */
export async function readJson(request: IncomingMessage, limits: BodyLimits): Promise<Json> {
  const body = await readBody(request, limits)
  if (body.length === 0) return {}
  return parseJson(decodeUtf8(body))
}

export function decodeUtf8(body: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body)
  } catch (error) {
    throw new AppError("bad-json", "The body is not valid UTF-8", { cause: error })
  }
}

function tooLarge(maxBytes: number): AppError {
  return new AppError("payload-too-large", `The body is larger than ${maxBytes} bytes`)
}

type Outcome = { kind: "complete"; body: Buffer } | { kind: "too-large" } | { kind: "too-slow" } | { kind: "cut" }

function collect(request: IncomingMessage, limits: BodyLimits): Promise<Outcome> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const timer = setTimeout(() => finish({ kind: "too-slow" }), limits.timeoutMs)
    const finish = (outcome: Outcome) => {
      clearTimeout(timer)
      request.off("data", onData).off("end", onEnd).off("error", onCut).off("close", onCut)
      resolve(outcome)
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > limits.maxBytes) finish({ kind: "too-large" })
      else chunks.push(chunk)
    }
    const onEnd = () =>
      finish({ kind: "complete", body: chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks) })
    const onCut = () => finish({ kind: "cut" })
    request.on("data", onData).on("end", onEnd).on("error", onCut).on("close", onCut)
  })
}

function drain(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let left = drainBytes
    const timer = setTimeout(finish, drainMs)
    function finish() {
      clearTimeout(timer)
      request.off("data", onData).off("end", finish).off("error", finish).off("close", finish)
      resolve()
    }
    function onData(chunk: Buffer) {
      left -= chunk.length
      if (left <= 0) finish()
    }
    request.on("data", onData).on("end", finish).on("error", finish).on("close", finish)
    request.resume()
  })
}
