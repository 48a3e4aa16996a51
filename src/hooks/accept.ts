// actions -> the one inbox entry that holds everything they cause (events, jobs) and the answer to the sender.
// What comes from a hook is origin `webhook` and never trusted; its session is always one of its own.
import type { Ids, JsonObject } from "../kernel/index.ts"
import { AppError } from "../kernel/index.ts"
import { type TurnInput, heartbeatJob, turnJob } from "../agent/turn-input.ts"
import { type Route, hookKey } from "../sessions/index.ts"
import type { IngestEntry } from "../store/index.ts"
import type { AgentAction, HookAction, WakeAction } from "./action.ts"

export interface AcceptOptions {
  ids: Ids
  mainAgentId: () => string
  mainSessionKey: () => string
  /**
   * Where a reply would go, fixed now. `problem` says why there is no route; the run happens all the same.
   * Throws `channel-unknown` (naming the allowed values) or `target-invalid`.
   */
  resolveRoute: (wanted: { channel: string; to?: string }) => Promise<{ route: Route | null; problem?: string }>
  /** Throws when the model is unknown or not allowed. */
  checkModel: (name: string) => void
}

/** Identifies a delivery among all deliveries of its sender. */
export interface DeliveryKey {
  account: string
  deliveryId: string
}

/** Through what a delivery came. */
export interface Sender {
  mapping?: string | undefined
  /** Not the hook token itself, but one with the scope for it. */
  tokenId?: string | undefined
}

export interface Acceptance {
  entry: IngestEntry
  answer: JsonObject
  status: 200 | 202 | 204
  runIds: string[]
}

/** A mapping's list of actions as one delivery; none at all is a delivery that asks for nothing (204). */
export async function acceptActions(
  options: AcceptOptions,
  key: DeliveryKey,
  actions: readonly HookAction[],
  sender: Sender = {},
): Promise<Acceptance> {
  const [first] = actions
  const parts: Acceptance[] = []
  for (const action of actions) {
    parts.push(
      action.kind === "wake" ? acceptWake(options, key, action) : await acceptAgent(options, key, action, sender),
    )
  }
  if (parts.length === 1) return parts[0] as Acceptance
  const runIds = parts.flatMap((part) => part.runIds)
  const answer: JsonObject =
    first === undefined
      ? { ok: true, skipped: true }
      : { ok: true, ...(runIds[0] === undefined ? {} : { runId: runIds[0], runIds }), count: parts.length }
  const entry: IngestEntry = {
    source: "hook",
    ...key,
    payload: null,
    answer,
    events: parts.flatMap((part) => part.entry.events ?? []),
    jobs: parts.flatMap((part) => part.entry.jobs ?? []),
  }
  return { entry, answer, runIds, status: first === undefined ? 204 : runIds.length > 0 ? 202 : 200 }
}

/** Bytes of a wake's text. It stands in the main session's prompt; a report of this length has a run of its own. */
const maxWakeBytes = 64 * 1024

// The payload itself is kept with the delivery's own row, once.
function acceptWake(options: AcceptOptions, key: DeliveryKey, action: WakeAction): Acceptance {
  const bytes = Buffer.byteLength(action.text)
  if (bytes > maxWakeBytes) {
    throw new AppError("payload-too-large", `The wake's text has ${bytes} bytes, and ${maxWakeBytes} are the most`, {
      hint: "Send long texts to the agent endpoint, or shorten what the mapping's template takes in",
    })
  }
  const sessionKey = options.mainSessionKey()
  const answer = { ok: true, mode: action.mode }
  const entry: IngestEntry = {
    source: "hook",
    ...key,
    payload: null,
    answer,
    events: [
      {
        sessionKey,
        text: action.text,
        origin: "webhook",
        trusted: false,
        ...segmentsOf(action),
        ...(action.shareHistory ? { shareHistory: true } : {}),
      },
    ],
    jobs: action.mode === "now" ? [heartbeatJob(options.ids.uuid(), sessionKey, "wake")] : [],
  }
  return { entry, answer, status: 200, runIds: [] }
}

function segmentsOf({ segments }: HookAction) {
  return segments ? { segments: segments.map(({ kind, text }) => ({ kind, text })) } : {}
}

async function acceptAgent(
  options: AcceptOptions,
  key: DeliveryKey,
  action: AgentAction,
  sender: Sender,
): Promise<Acceptance> {
  const runId = options.ids.uuid()
  const input = await turnInput(options, action, sender)
  const answer = { ok: true, runId }
  const entry: IngestEntry = { source: "hook", ...key, payload: null, answer, jobs: [turnJob(runId, input)] }
  return { entry, answer, status: 202, runIds: [runId] }
}

/** The run that an action asks for. Throws for a session, model, channel or recipient that cannot be. */
export async function turnInput(
  options: AcceptOptions,
  action: AgentAction,
  { mapping = "", tokenId }: Sender = {},
): Promise<TurnInput> {
  const model = chooseModel(options, action)
  const agentId = options.mainAgentId()
  const { route, problem } = await findRoute(options, action)
  const callback = action.callbackUrl === undefined ? {} : { callback: { url: action.callbackUrl, mapping } }
  return {
    agentId,
    sessionKey: hookKey(agentId, action.sessionKey ?? `hook:${options.ids.uuid()}`),
    purpose: "hook",
    origin: "webhook",
    trusted: false,
    ...(action.unwrapped ? { wrap: false } : {}),
    about: { hook: action.name },
    text: action.message,
    ...segmentsOf(action),
    route,
    ...(problem === undefined ? {} : { routeProblem: problem }),
    hook: {
      name: action.name,
      wakeMode: action.wakeMode,
      ...(action.shareHistory ? { shareHistory: true } : {}),
      ...callback,
      ...(tokenId === undefined ? {} : { tokenId }),
    },
    ...(model === undefined ? {} : { model }),
    ...(action.thinking === undefined ? {} : { thinking: action.thinking }),
    ...(action.timeoutSeconds === undefined ? {} : { timeoutSeconds: action.timeoutSeconds }),
  }
}

/** One that is asked for is had or refused. One that is preferred refuses nothing: the mails of a watch would be lost. */
function chooseModel(options: AcceptOptions, { model, preferredModel }: AgentAction): string | undefined {
  if (model !== undefined) {
    options.checkModel(model)
    return model
  }
  if (preferredModel === undefined) return undefined
  try {
    options.checkModel(preferredModel)
    return preferredModel
  } catch (error) {
    // Told with the configuration, at the start and after a change.
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** A named channel or recipient is checked even when nothing is to be delivered: a typing error should show at once. */
async function findRoute(
  options: AcceptOptions,
  action: AgentAction,
): Promise<{ route: Route | null; problem?: string }> {
  const { channel, to } = action
  if (!action.deliver && channel === "last" && to === undefined) return { route: null }
  const found = await options.resolveRoute(to === undefined ? { channel } : { channel, to })
  return action.deliver ? found : { route: null }
}

/** The sender's own id of a delivery, from its `Idempotency-Key`; undefined when it sent none. */
export function readIdempotencyKey(values: readonly string[] | undefined): string | undefined {
  if (values === undefined) return undefined
  const key = values[0] ?? ""
  if (values.length > 1 || !/^[\x20-\x7e]{1,255}$/.test(key)) {
    throw new AppError("bad-request", "Idempotency-Key must be one header of 1 to 255 printable ASCII characters")
  }
  return key
}
