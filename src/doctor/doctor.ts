// `svc doctor`: configuration -> files -> machine -> store, read only and at the same time, in less than two seconds, with or
// without a running gateway. One check that fails says so and does not keep the others from being told.
import { type Variables, readEnvironment } from "../config/index.ts"
import { describeError } from "../kernel/index.ts"
import { lookAtConfiguration } from "./configuration.ts"
import { type Finding, finding } from "./contract.ts"
import {
  lookAtBrowser,
  lookAtClock,
  lookAtDisk,
  lookAtLeftovers,
  lookAtNode,
  lookAtPorts,
  lookAtSandbox,
  lookAtService,
} from "./machine.ts"
import { lookAtLog, lookAtStore } from "./store.ts"

export type { Finding, Fix } from "./contract.ts"
export { applyFix, describeFix } from "./fix.ts"

/** A person waits two seconds, and the start of the program is among them. */
const usualLookMs = 1_200

export interface DoctorOptions {
  variables: Variables
  nodeVersion: string
  /** What the running gateway says of its parts; undefined while none runs. */
  gateway: { problems: readonly { part: string; problem: string; next?: string }[] } | undefined
  signal: AbortSignal
  /** How long the store and the network may be looked at; the default leaves two seconds for the whole program. */
  lookMs?: number
}

export async function examine({
  variables,
  nodeVersion,
  gateway,
  signal: outer,
  lookMs = usualLookMs,
}: DoctorOptions): Promise<Finding[]> {
  const environment = readEnvironment(variables)
  const { stateFolder, configPath } = environment
  const signal = AbortSignal.any([outer, AbortSignal.timeout(lookMs)])
  const { findings, snapshot } = lookAtConfiguration(variables, environment)
  const config = snapshot?.config
  const chat = config?.channels.chatapp
  const looks: Record<string, () => Finding[] | Promise<Finding[]>> = {
    "Node.js": () => lookAtNode(nodeVersion),
    disk: () => lookAtDisk(stateFolder),
    leftovers: () => (gateway ? [] : lookAtLeftovers(stateFolder)),
    ports: () => (config && !gateway ? lookAtPorts(config) : []),
    browser: () => (config ? lookAtBrowser(config, environment, configPath) : []),
    service: () => lookAtService(environment),
    sandbox: () => (config ? lookAtSandbox(config, environment, signal) : []),
    clock: () => lookAtClock(stateFolder, chat?.enabled ? chat.apiRoot : undefined, signal),
    store: () => lookAtStore(stateFolder, signal),
    log: () => (gateway ? [] : lookAtLog(stateFolder)),
  }
  const found = await Promise.all(Object.entries(looks).map(([what, look]) => guarded(what, look, signal)))
  const problems = (gateway?.problems ?? []).filter(({ part }) => part !== "outbox")
  const told = problems.map(({ part, problem, next }) => {
    const isCommand = next?.startsWith("svc ") === true
    const cause = `${part}: ${problem}${next === undefined || isCommand ? "" : `. ${next}`}`
    return finding("gateway-problem", cause, { command: isCommand && next ? next : "svc status" })
  })
  return [...findings, ...found.flat(), ...told].toSorted((a, b) => weights[a.severity] - weights[b.severity])
}

const weights = { error: 0, warning: 1, note: 2 }

async function guarded(
  what: string,
  look: () => Finding[] | Promise<Finding[]>,
  signal: AbortSignal,
): Promise<Finding[]> {
  try {
    return await look()
  } catch (error) {
    if (signal.aborted && error === signal.reason) {
      return [finding("check-failed", `${what}: there was no time to look at it to its end`, { command: "svc doctor" })]
    }
    return [finding("check-failed", `${what} could not be looked at: ${describeError(error)}`)]
  }
}
