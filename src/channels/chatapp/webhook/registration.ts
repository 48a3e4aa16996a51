// Tells the platform where updates go, and looks now and then whether it still holds: another program with the same
// token can change it. Set anew only when something differs, because the platform allows one change a second.
import { createHash } from "node:crypto"
import { type Clock, type Json, type Log, type Secret, backoffMs } from "../../../kernel/index.ts"
import type { Client } from "../client.ts"
import { type CallFailure, describeFailure, isTokenRefused } from "../failure.ts"
import type { PollState } from "../polling.ts"
import { allowedUpdates } from "../updates/kinds.ts"

export interface WebhookReport {
  url: string
  pending: number
  /** Milliseconds since the epoch. */
  lastErrorAt?: number
  lastError?: string
}

export interface RegistrationOptions {
  client: Client
  clock: Clock
  log: Log
  signal: AbortSignal
  url: string
  secret: Secret
  /** What was set last, so that a changed secret is noticed: the platform does not tell it. */
  memory: { get(): Promise<Json | undefined>; set(value: Json): Promise<void> }
  onState: (state: PollState) => void
  onReport: (report: WebhookReport) => void
  timing: RegistrationTiming
}

export interface RegistrationTiming {
  minBackoffMs: number
  maxBackoffMs: number
  /** After the platform has refused the token. */
  refusedMs: number
  /** Between two looks while all is well. */
  webhookCheckMs: number
}

const callTimeoutMs = 15_000
const maxConnections = 40

type Outcome = { kind: "set" } | { kind: "failed"; failure: CallFailure }

/** Runs until the signal aborts. */
export async function keepWebhook(options: RegistrationOptions): Promise<void> {
  const { clock, signal, log, timing, onState } = options
  let failures = 0
  while (!signal.aborted) {
    const outcome = await ensure(options)
    if (signal.aborted) return
    if (outcome.kind === "set") {
      if (failures > 0) log.info({ failures }, "webhook registration recovered")
      failures = 0
      onState({ kind: "running" })
      await clock.sleep(timing.webhookCheckMs, signal).catch(() => undefined)
      continue
    }
    const { failure } = outcome
    failures += 1
    const reason = describeFailure(failure)
    if (isTokenRefused(failure)) {
      const level = failures > 1 ? "debug" : "error"
      log[level]({ reason, hint: "Check the bot token and apiRoot" }, "webhook registration stopped")
      onState({ kind: "stopped", reason })
      options.client.reset()
      await clock.sleep(timing.refusedMs, signal).catch(() => undefined)
      continue
    }
    onState({ kind: "waiting", reason })
    const delayMs = delayAfter(failure, failures, timing)
    const level = failures > 1 ? "debug" : failure.kind === "refused" && failure.code === 400 ? "error" : "warn"
    log[level]({ reason, delayMs, hint: "Check channels.chatapp.webhookUrl" }, "webhook not set, will retry")
    options.client.reset()
    await clock.sleep(delayMs, signal).catch(() => undefined)
  }
}

async function ensure(options: RegistrationOptions): Promise<Outcome> {
  const { client, signal, url, secret, memory, log, onReport } = options
  const limits = { timeoutMs: callTimeoutMs, signal }
  const info = await client.call("getWebhookInfo", {}, limits)
  if (!info.ok) return { kind: "failed", failure: info.failure }
  const { value } = info
  onReport({
    url,
    pending: value.pending_update_count,
    ...(value.last_error_date === undefined ? {} : { lastErrorAt: value.last_error_date * 1000 }),
    ...(value.last_error_message === undefined ? {} : { lastError: value.last_error_message }),
  })
  const digest = createHash("sha256")
    .update(JSON.stringify([url, secret.reveal(), allowedUpdates]))
    .digest("hex")
  const known = await memory.get()
  if (known === digest && value.url === url && isSameSet(value.allowed_updates)) return { kind: "set" }
  if (known === digest && value.url !== url) {
    const hint = "Another program uses this token; stop it, or give each its own bot"
    log.warn({ hint, found: URL.parse(value.url ?? "")?.host ?? "none" }, "webhook was changed elsewhere")
  }
  // Whether a call that is given up has arrived is not known: the secret of before may count there no more.
  await memory.set(null)
  const set = await client.call(
    "setWebhook",
    {
      url,
      secret_token: secret.reveal(),
      allowed_updates: allowedUpdates,
      max_connections: maxConnections,
      drop_pending_updates: false,
    },
    limits,
  )
  if (!set.ok) return { kind: "failed", failure: set.failure }
  await memory.set(digest)
  log.info({ host: new URL(url).host, path: new URL(url).pathname }, "webhook set")
  return { kind: "set" }
}

function isSameSet(kinds: readonly string[] | undefined): boolean {
  const found = new Set(kinds)
  return found.size === allowedUpdates.length && allowedUpdates.every((kind) => found.has(kind))
}

function delayAfter(failure: CallFailure, failures: number, timing: RegistrationTiming): number {
  if (failure.kind === "refused" && failure.retryAfterSeconds !== undefined) return failure.retryAfterSeconds * 1000
  const policy = { attempts: 0, minDelayMs: timing.minBackoffMs, maxDelayMs: timing.maxBackoffMs, jitter: 0.2 }
  return backoffMs(policy, Math.min(failures, 10))
}
