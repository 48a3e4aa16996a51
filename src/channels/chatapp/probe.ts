// Asks the platform whether an account works, for `svc channels status --probe`. Bounded: a person is waiting.
import type { Clock } from "../../kernel/index.ts"
import type { ChannelAccountStatus } from "../contract.ts"
import type { Client } from "./client.ts"
import { describeFailure } from "./failure.ts"

const probeTimeoutMs = 2_500

export async function probe(options: {
  client: Client
  clock: Clock
  signal: AbortSignal
}): Promise<NonNullable<ChannelAccountStatus["probe"]>> {
  const { client, clock, signal } = options
  const startedAt = clock.monotonic()
  const limits = { timeoutMs: probeTimeoutMs, signal }
  const [me, webhook] = await Promise.all([client.call("getMe", {}, limits), client.call("getWebhookInfo", {}, limits)])
  const elapsedMs = Math.round(clock.monotonic() - startedAt)
  const failure = me.ok ? (webhook.ok ? undefined : webhook.failure) : me.failure
  return {
    ok: failure === undefined,
    elapsedMs,
    ...(failure === undefined ? {} : { error: describeFailure(failure) }),
    ...(me.ok && me.value.username !== undefined ? { botName: me.value.username } : {}),
    ...(webhook.ok && webhook.value.url ? { webhookUrl: webhook.value.url } : {}),
  }
}
