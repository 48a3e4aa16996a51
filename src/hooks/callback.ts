// Results of runs, posted to the address that a mapping names: turn ends -> outbox row in its last transaction ->
// signed POST (Standard Webhooks) -> again until it is taken. The message id is the run's, so a repeat is known.
import { createHmac } from "node:crypto"
import type { TurnInput } from "../agent/turn-input.ts"
import type { ChannelSender, SendOutcome } from "../delivery/contract.ts"
import { AppError, type Clock, type Json, describeError } from "../kernel/index.ts"
import type { NewOutbox, OutboxRow, Write } from "../store/index.ts"
import type { HooksConfig } from "./config.ts"
import { guardedPost } from "./guarded-post.ts"
import { secretPrefix } from "./signing-secret.ts"

export const callbackChannel = "callback"

export interface CallbackOptions {
  config: () => Pick<HooksConfig, "mappings" | "callbackAllowPrivate">
  clock: Clock
  timeoutMs?: number
}

interface CallbackPayload {
  url: string
  mapping: string
  messageId: string
  body: string
}

const postTimeoutMs = 15_000
const firstRetryMs = 5_000
const longestRetryMs = 60 * 60 * 1000

/** Called inside the last transaction of a turn; writes nothing for turns without a callback. */
export function queueCallback(
  write: Write,
  turn: { input: TurnInput; jobId: number; text: string; isError: boolean },
): void {
  const callback = turn.input.hook?.callback
  if (!callback) return
  const job = write.prepare("select run_id from job where id = ?").get(turn.jobId) as { run_id: string } | undefined
  if (!job) return
  const body = {
    type: turn.isError ? "hook.run.failed" : "hook.run.finished",
    timestamp: new Date(write.now).toISOString(),
    data: { runId: job.run_id, mapping: callback.mapping, name: turn.input.hook?.name ?? "", reply: turn.text },
  }
  const payload = { ...callback, messageId: `run_${job.run_id}`, body: JSON.stringify(body) }
  write.addOutbox(callbackRow(job.run_id, turn.jobId, payload))
}

/** A lane of its own: one receiver that is down holds up nothing else. */
function callbackRow(runId: string, jobId: number, payload: CallbackPayload): NewOutbox {
  return {
    laneKey: `callback:${runId}`,
    channel: callbackChannel,
    account: payload.mapping,
    chatId: runId,
    route: { channel: callbackChannel, account: payload.mapping, chatId: runId, chatKind: "private" },
    kind: "callback",
    payload: payload as unknown as Json,
    jobId,
  }
}

export function createCallbackSender(options: CallbackOptions): ChannelSender {
  const noTarget = () =>
    new AppError("target-invalid", "Results are posted only where a mapping's callbackUrl says, never as a chat")
  return {
    channel: callbackChannel,
    plan() {
      throw noTarget()
    },
    resolveTarget() {
      throw noTarget()
    },
    // The receiver knows a repeat by its id.
    isRepeatable: () => true,
    send(row, signal, begin) {
      begin()
      return sendCallback(options, row, signal)
    },
  }
}

async function sendCallback(options: CallbackOptions, row: OutboxRow, signal: AbortSignal): Promise<SendOutcome> {
  const payload = JSON.parse(row.payload) as CallbackPayload
  const config = options.config()
  // The address was fixed when the delivery came; it is used only while the configuration still says the same.
  const secret = signingSecret(config, payload)
  if (secret === undefined) return { kind: "rejected", error: "the mapping's callbackUrl is no longer configured" }
  const timestamp = String(Math.floor(options.clock.now() / 1000))
  try {
    const status = await guardedPost({
      url: payload.url,
      headers: {
        "content-type": "application/json",
        "user-agent": "svc-gateway",
        "webhook-id": payload.messageId,
        "webhook-timestamp": timestamp,
        "webhook-signature": sign(secret, payload.messageId, timestamp, payload.body),
      },
      body: payload.body,
      allowPrivate: config.callbackAllowPrivate,
      timeoutMs: options.timeoutMs ?? postTimeoutMs,
      signal,
    })
    return judge(row, status)
  } catch (error) {
    if (error instanceof AppError && error.code === "forbidden")
      return { kind: "rejected", error: describeError(error) }
    // Whether it arrived or not, it may be sent again: the receiver knows the message by its id.
    return { kind: "retry", delayMs: retryDelay(row), error: describeError(error) }
  }
}

function judge(row: OutboxRow, status: number): SendOutcome {
  if (status >= 200 && status < 300) return { kind: "sent" }
  if (status >= 300 && status < 400) return { kind: "rejected", error: `redirects (${status}) are not followed` }
  if (status === 410) return { kind: "rejected", error: "the receiver wants no more results (410)" }
  return { kind: "retry", delayMs: retryDelay(row), error: `answered with status ${status}` }
}

function retryDelay(row: OutboxRow): number {
  return Math.min(firstRetryMs * 2 ** Math.max(0, row.attempts - 1), longestRetryMs)
}

/** Undefined when no mapping has this address any more. */
function signingSecret(config: ReturnType<CallbackOptions["config"]>, payload: CallbackPayload): string | undefined {
  const entries = config.mappings.filter((mapping) => mapping.callbackUrl === payload.url)
  const entry = entries.find((mapping) => (mapping.id ?? mapping.preset) === payload.mapping) ?? entries[0]
  return entry?.callbackSecret
}

/** https://www.standardwebhooks.com: `whsec_` secrets are base64, others are taken as they are. */
function sign(secret: string, id: string, timestamp: string, body: string): string {
  const isEncoded = secret.startsWith(secretPrefix)
  const key = isEncoded ? Buffer.from(secret.slice(secretPrefix.length), "base64") : Buffer.from(secret)
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`
}
