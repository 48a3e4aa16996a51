// Tokens at hand: one for each file of credentials, used until a minute before it lapses, asked for once however many
// wait for it.
import { AppError, type Clock, describeError, raceAbort, runWithTimeout } from "../../kernel/index.ts"
import { ProviderRefusal } from "../providers/contract.ts"
import type { Credentials } from "./credentials.ts"
import type { FreshToken } from "./exchange.ts"

export interface GoogleAccess {
  token: string
  /** The project that the credentials belong to. */
  projectId: string | undefined
  /** The project that pays for a person's calls. */
  quotaProjectId: string | undefined
}

export interface GoogleTokens {
  /**
   * `file` is the configured one; unset: the environment's, else the machine's own account.
   * Throws `model-key-missing` or `model-failed` with the next step, or what may pass.
   */
  access(file: string | undefined, call: { fetch: typeof fetch; signal: AbortSignal }): Promise<GoogleAccess>
  /** The token was refused before its time: the next caller gets a new one. */
  forget(file: string | undefined): void
}

interface Kept extends GoogleAccess {
  expiresAt: number
}

/** A request takes its time, and clocks differ. */
const beforeLapseMs = 60_000
const exchangeTimeoutMs = 15_000
/** On the cloud's machines it answers in milliseconds; elsewhere nobody does. */
const machineTimeoutMs = 3000
const machineHost = "metadata.google.internal"

export function createGoogleTokens(parts: {
  clock: Clock
  environment: Readonly<Record<string, string | undefined>>
}): GoogleTokens {
  const { clock, environment } = parts
  const kept = new Map<string, Kept>()
  const asked = new Map<string, Promise<Kept>>()

  async function ask(file: string | undefined, fetch: typeof globalThis.fetch): Promise<Kept> {
    if (file === undefined) return withAccess(await fromMachine(fetch), undefined)
    // Loaded with the first token: most gateways never ask for one.
    const [{ readCredentials }, { exchange }] = await Promise.all([import("./credentials.ts"), import("./exchange.ts")])
    const credentials = await readCredentials(file)
    const fresh = await runWithTimeout(exchangeTimeoutMs, "Google's sign-in", (signal) =>
      exchange(credentials, { clock, fetch, signal }),
    )
    return withAccess(fresh, credentials)
  }

  async function fromMachine(fetch: typeof globalThis.fetch): Promise<FreshToken> {
    const { askMachine } = await import("./exchange.ts")
    const host = environment.GCE_METADATA_HOST ?? machineHost
    try {
      return await runWithTimeout(machineTimeoutMs, "The cloud's metadata server", (signal) =>
        askMachine(host, { clock, fetch, signal }),
      )
    } catch (error) {
      if (error instanceof ProviderRefusal) throw error
      throw new AppError("model-key-missing", `There are no credentials of Google's cloud: ${describeError(error)}`, {
        cause: error,
        hint: "Set the provider's credentialsFile, or GOOGLE_APPLICATION_CREDENTIALS, to a key file.",
      })
    }
  }

  const fileOf = (configured: string | undefined) => configured ?? environment.GOOGLE_APPLICATION_CREDENTIALS
  return {
    forget: (configured) => void kept.delete(fileOf(configured) ?? ""),
    async access(configured, { fetch, signal }) {
      const file = fileOf(configured)
      const name = file ?? ""
      const token = kept.get(name)
      if (token && token.expiresAt - beforeLapseMs > clock.now()) return token
      let asking = asked.get(name)
      if (!asking) {
        // Not bound to this caller's signal: others wait for the same token.
        asking = ask(file, fetch).finally(() => asked.delete(name))
        asked.set(name, asking)
      }
      const fresh = await raceAbort(asking, signal)
      kept.set(name, fresh)
      return fresh
    },
  }
}

function withAccess(fresh: FreshToken, credentials: Credentials | undefined): Kept {
  const projectId = credentials?.type === "service_account" ? credentials.project_id : undefined
  const quotaProjectId = credentials?.type === "authorized_user" ? credentials.quota_project_id : undefined
  return { ...fresh, projectId, quotaProjectId }
}
