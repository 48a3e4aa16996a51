// How a bot gets its updates: getUpdates, setWebhook, deleteWebhook, getWebhookInfo.
import { isIP, isIPv4 } from "node:net"
import { ApiError, badRequest, tooManyRequests } from "../errors.ts"
import { parseJson } from "../wire/arguments.ts"
import type { WebhookSettings } from "../updates/webhook.ts"
import { DescribedResult, JsonResult, type MethodCall, type MethodTable } from "./method.ts"

const maxPollSeconds = 50
const maxUpdates = 100
const webhookPorts = new Set(["80", "88", "443", "8443"])

export const updateMethods: MethodTable = {
  getUpdates,
  setWebhook,
  deleteWebhook: (call) => removeWebhook(call),
  getWebhookInfo,
}

async function getUpdates({ bot, arguments: source, signal }: MethodCall): Promise<JsonResult> {
  if (bot.webhook.settings) {
    return bot.poll.conflict(
      "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
    )
  }
  bot.queue.allow(readAllowedUpdates(source.text("allowed_updates")))
  const updates = await bot.poll.getUpdates({
    offset: source.integer("offset"),
    limit: source.integer("limit", maxUpdates, 1, maxUpdates),
    timeoutSeconds: source.integer("timeout", 0, 0, maxPollSeconds),
    signal,
  })
  const ids = updates.map((update) => update.id)
  return new JsonResult(`[${updates.map((update) => update.json).join(",")}]`, ids)
}

/** Anything that is not a list keeps what was set before. */
function readAllowedUpdates(json: string): string[] | undefined {
  if (json === "") return undefined
  const value = parseJson(json, () => badRequest("Can't parse allowed updates JSON object"))
  if (!Array.isArray(value)) throw badRequest("Expected an Array of String as allowed updates")
  return value.map(String)
}

function setWebhook(call: MethodCall): DescribedResult {
  const { bot, world, arguments: source } = call
  const url = source.text("url")
  if (url === "") return removeWebhook(call)
  const isLocal = world.options.localMode === true
  const secretToken = readSecretToken(source.text("secret_token"))
  const settings: WebhookSettings = {
    url: checkUrl(url, isLocal),
    secretToken,
    maxConnections: source.integer("max_connections", 40, 1, isLocal ? 100_000 : 100),
    ipAddress: checkAddress(source.text("ip_address"), isLocal),
    certificate: source.file("certificate")?.bytes,
  }
  const allowed = readAllowedUpdates(source.text("allowed_updates"))
  const dropsPending = source.boolean("drop_pending_updates")
  const isSame = isSameWebhook(bot.webhook.settings, settings) && allowed === undefined && !dropsPending
  if (isSame) return new DescribedResult(true, "Webhook is already set")
  limitRate(call)
  bot.queue.allow(allowed)
  if (dropsPending) bot.queue.clear()
  bot.poll.terminate("Conflict: terminated by setWebhook request")
  bot.webhook.start(settings)
  return new DescribedResult(true, "Webhook was set")
}

function removeWebhook({ bot, arguments: source }: MethodCall): DescribedResult {
  if (source.boolean("drop_pending_updates")) bot.queue.clear()
  if (!bot.webhook.settings) return new DescribedResult(true, "Webhook is already deleted")
  bot.webhook.stop()
  return new DescribedResult(true, "Webhook was deleted")
}

function getWebhookInfo({ bot }: MethodCall): object {
  const { settings, lastError } = bot.webhook
  const allowed = bot.queue.allowed()
  return {
    url: settings?.url ?? "",
    has_custom_certificate: settings?.certificate !== undefined,
    pending_update_count: bot.queue.pending().length,
    ...(settings ? { max_connections: settings.maxConnections } : {}),
    ...(settings?.ipAddress ? { ip_address: settings.ipAddress } : {}),
    ...(settings && lastError ? { last_error_date: lastError.at, last_error_message: lastError.message } : {}),
    ...(allowed ? { allowed_updates: allowed } : {}),
  }
}

function readSecretToken(token: string): string {
  if (token.length > 256) throw badRequest("Secret token is too long")
  if (/[^A-Za-z0-9_-]/.test(token)) throw badRequest("Secret token contains unallowed characters")
  return token
}

function checkUrl(text: string, isLocal: boolean): string {
  const full = text.includes("://") ? text : `https://${text}`
  const url = URL.parse(full)
  if (!url || !["http:", "https:"].includes(url.protocol)) throw badRequest("Invalid webhook URL specified")
  if (isLocal) return full
  if (url.protocol === "http:") throw badRequest("Bad webhook: An HTTPS URL must be provided for webhook")
  if (!webhookPorts.has(url.port || "443")) {
    throw badRequest("Bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443")
  }
  if (isIP(url.hostname)) checkAddress(url.hostname, false)
  else if (url.hostname === "localhost") throw badRequest("Bad webhook: IP address 127.0.0.1 is reserved")
  return full
}

function checkAddress(address: string, isLocal: boolean): string {
  if (address === "" || isLocal) return address
  if (!isIPv4(address)) throw badRequest("Bad webhook: IP address is invalid")
  const isReserved =
    /^(?:0|10|127|22[4-9]|23\d|24\d|25[0-5]|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./
  if (isReserved.test(address)) throw badRequest(`Bad webhook: IP address ${address} is reserved`)
  return address
}

function isSameWebhook(current: WebhookSettings | undefined, next: WebhookSettings): boolean {
  if (!current || next.certificate || current.certificate) return false
  return (
    current.url === next.url &&
    current.secretToken === next.secretToken &&
    current.maxConnections === next.maxConnections &&
    current.ipAddress === next.ipAddress
  )
}

/** One change of the webhook a second. */
function limitRate({ bot, world }: MethodCall): void {
  const last = bot.settings.get("webhook-changed-at")
  const now = world.clock.now()
  if (typeof last === "number" && now - last < 1000) throw tooManyRequests(1)
  bot.settings.set("webhook-changed-at", now)
}

/** What a revoked or restarted bot's waiting poll gets. */
export function interruption(kind: "restart" | "revoked"): ApiError {
  return kind === "restart" ? new ApiError(500, "Internal Server Error: restart") : new ApiError(401, "Unauthorized")
}
