// What a person can do with deliveries: list, look, replay, and try one without sending it.
import { AppError, type Ids, type Json } from "../kernel/index.ts"
import type { Store } from "../store/index.ts"
import { turnInput } from "./accept.ts"
import { parsePayload } from "./body.ts"
import type { HookAction } from "./action.ts"
import type { HookDeliveryDetail, HookDeliveryPage, HookOutcome, HookTestPlan, HookTestRequest } from "./contract.ts"
import { type Delivery, publicHeaders, publicQuery } from "./delivery.ts"
import { type ProcessOptions, findTaker, planActions, processDelivery, recordRefusal } from "./process.ts"
import type { HookRuns } from "./runs.ts"
import type { Settings } from "./settings.ts"
import { type DeliveryQuery, findRow, listDeliveries, readDelivery } from "./store.ts"

export interface HookDeliveryActions {
  list(query: DeliveryQuery): HookDeliveryPage
  read(id: number): HookDeliveryDetail
  /** Once more, as a delivery of its own; what made the first one known does not stop it. The same key is the same wish. */
  replay(id: number, key?: string): Promise<HookOutcome>
  test(request: HookTestRequest): Promise<HookOutcome | HookTestPlan>
}

export interface InspectOptions extends ProcessOptions {
  store: Store
  runs: HookRuns
  settings: () => Settings | undefined
  ids: Ids
}

/** Not proven, too slow, too large, guessed too often. */
const bodilessStatuses = new Set([401, 408, 413, 429])

export function createDeliveryActions(options: InspectOptions): HookDeliveryActions {
  const { store, runs } = options
  const settingsInForce = (): Settings => {
    const settings = options.settings()
    if (!settings) throw new AppError("conflict", "Webhooks are off", { hint: "Set hooks.enabled and hooks.token" })
    return settings
  }
  return {
    list(query) {
      const items = listDeliveries(store, query)
      const next = items.length === query.limit ? (items.at(-1)?.id ?? null) : null
      return { items, next, refused: options.recorder.counts() }
    },
    read: (id) => readDelivery(store, runs, id),
    async replay(id, key) {
      const settings = settingsInForce()
      const row = findRow(store, id)
      if (row.verdict === "refused" && bodilessStatuses.has(row.status)) {
        throw new AppError(
          "conflict",
          `Delivery ${id} was turned away before its body was taken; there is nothing to replay`,
        )
      }
      const headers = JSON.parse(row.headers) as Record<string, string>
      return await perform(options, settings, {
        ...fresh(options),
        path: row.path,
        headers,
        query: JSON.parse(row.query) as Record<string, string>,
        ...content(Buffer.from(row.body), headers, row.path),
        replayOf: id,
        idempotencyKey: key === undefined ? undefined : `replay:${id}:${key}`,
      })
    },
    async test(request) {
      const settings = settingsInForce()
      const { path, dryRun } = request
      const hidden = settings.mappings.hiddenAt(path)
      const query = publicQuery(new URLSearchParams(request.query ?? {}).toString(), hidden)
      const headers = publicHeaders(lowerCase(request.headers ?? {}), hidden)
      const body = Buffer.from(request.body)
      const delivery = { ...fresh(options), path, headers, query, ...content(body, headers, path) }
      return dryRun ? await plan(options, settings, delivery) : await perform(options, settings, delivery)
    },
  }
}

/** What the gateway's own API asks for is as good as the token. */
function fresh(options: InspectOptions) {
  const { clock } = options
  return {
    receivedAt: clock.now(),
    beganAt: clock.monotonic(),
    method: "POST",
    mapping: "",
    proof: { kind: "token" } as const,
  }
}

function content(body: Buffer, headers: Record<string, string>, path: string) {
  const forms = path !== "wake" && path !== "agent"
  return { body, payload: parsePayload(body, headers["content-type"], forms) }
}

async function perform(options: InspectOptions, settings: Settings, delivery: Delivery): Promise<HookOutcome> {
  try {
    const { status, answer } = await processDelivery(options, settings, delivery)
    return { status, answer }
  } catch (thrown) {
    recordRefusal(options, delivery, thrown)
    throw thrown
  }
}

async function plan(options: InspectOptions, settings: Settings, delivery: Delivery): Promise<HookTestPlan> {
  const taker = findTaker(settings, delivery)
  const actions: Json[] = []
  for (const action of await planActions(options, delivery, taker)) {
    actions.push(await describe(options, action, taker.id))
  }
  return { mapping: taker.id, actions }
}

/** An action as it would be queued: the session, the message, and where a reply would go. */
async function describe(options: InspectOptions, action: HookAction, mapping: string): Promise<Json> {
  if (action.kind === "wake") {
    return { kind: "wake", session: options.mainSessionKey(), text: action.text, mode: action.mode }
  }
  const input = await turnInput(options, action, { mapping })
  return {
    kind: "agent",
    session: input.sessionKey,
    name: action.name,
    message: input.text,
    wakeMode: action.wakeMode,
    route: input.route as Json,
    routeProblem: input.routeProblem ?? null,
    model: input.model ?? null,
    thinking: input.thinking ?? null,
    timeoutSeconds: input.timeoutSeconds ?? null,
    wrapped: input.wrap !== false,
  }
}

function lowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
