// Beginning anew with another configuration, in the same process. Where a gateway of it could not listen, everybody who is
// served would be left alone: this one goes on as it is instead, and says what keeps it.
import { type Config, readFirstConfig } from "../config/index.ts"
import { checkGatewayToken, type Problem, resolveBinding } from "../gateway/index.ts"
import { listen } from "../kernel/http/index.ts"
import { AppError, describeError } from "../kernel/index.ts"
import type { Core } from "./core.ts"

export interface Restarts {
  /** What would keep a gateway of the file as it is now from beginning; undefined: nothing that is known. */
  check(): Promise<AppError | undefined>
  /** Begins anew whatever comes of it. */
  begin(reason: string): void
  /** Begins anew, or goes on and tells why. Resolves with which. */
  restart(reason: string): Promise<boolean>
  /** The configuration asks for none any more. */
  forget(): void
  /** Why the configuration is in force in part only. */
  problem(): Problem | undefined
}

export interface RestartOptions {
  core: Pick<Core, "holder" | "environment" | "log">
  /** Those that this gateway listens on. */
  ports: () => { gateway: number; control: number }
  begin: (reason: string) => void
}

export function createRestarts({ core, ports, begin }: RestartOptions): Restarts {
  let kept: AppError | undefined
  const check = async (): Promise<AppError | undefined> => {
    const { configPath: path, variables: env, stateFolder } = core.environment
    try {
      const { config } = readFirstConfig({ path, env, stateFolder, shell: core.holder.snapshot().shell })
      await tryStart(config, stateFolder, new Set(Object.values(ports())))
      return undefined
    } catch (error) {
      // Whatever it is that keeps this from being tried, a start would meet it.
      return error instanceof AppError ? error : new AppError("internal", describeError(error), { cause: error })
    }
  }
  return {
    check,
    begin,
    async restart(reason) {
      kept = await check()
      if (kept) core.log.error({ reason, err: kept }, "not restarted: the gateway would not come back")
      else begin(reason)
      return kept === undefined
    },
    forget() {
      kept = undefined
    },
    problem() {
      if (!kept) return undefined
      const problem = `a change takes effect at the next start, which would fail: ${kept.message}`
      return { part: "config", problem, ...(kept.hint === undefined ? {} : { next: kept.hint }) }
    },
  }
}

/** Throws what such a start would. */
async function tryStart({ gateway, hooks, browser }: Config, stateFolder: string, own: ReadonlySet<number>) {
  const hookToken = hooks.enabled ? hooks.token : undefined
  const token = checkGatewayToken({ configured: gateway.auth.token, hookToken, stateFolder })
  const { host } = resolveBinding({ bind: gateway.bind, token })
  await tryListening({ host, port: gateway.port, purpose: "the gateway (gateway.port)" }, own)
  if (!browser.enabled) return
  const purpose = "the browser control service (gateway.port + 2)"
  await tryListening({ host: "127.0.0.1", port: gateway.port + 2, purpose }, own)
}

/** Ports of our own will be free by then; whether the address is one of this machine, any port of it tells. */
async function tryListening(
  { host, port, purpose }: { host: string; port: number; purpose: string },
  own: ReadonlySet<number>,
): Promise<void> {
  const fetch = () => new Response(null, { status: 503 })
  const listener = await listen({ fetch, host, port: own.has(port) ? 0 : port, purpose })
  await listener.stop(0)
}
