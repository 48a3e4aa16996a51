// The mail watch beside the gateway: runs while hooks.gmail names an account. Its failure never ends the gateway.
import type { GmailWatch } from "../hooks/gmail/index.ts"
import { createVerifier } from "../hooks/verify/index.ts"
import { AppError } from "../kernel/index.ts"
import type { Core } from "./core.ts"

export interface GmailPart {
  /** Starts what is configured now, after ending what ran before. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export function composeGmail(core: Core, gatewayPort: () => number): GmailPart {
  const log = core.log.child({ part: "gmail" })
  let watch: GmailWatch | undefined
  let isStopped = false
  /** One start or stop after the other: of two starts at once, the first would be ended by nobody. */
  let line: Promise<void> = Promise.resolve()
  const inLine = (work: () => Promise<void>): Promise<void> => {
    const done = line.then(work)
    line = done.catch(() => undefined)
    return done
  }
  const end = async () => {
    const running = watch
    watch = undefined
    await running?.stop()
  }
  return {
    stop() {
      isStopped = true
      return inLine(end)
    },
    restart: () => inLine(restart),
  }

  async function restart(): Promise<void> {
    await end()
    if (isStopped) return
    const { hooks } = core.config()
    if (!hooks.enabled || hooks.gmail?.account === undefined) return
    if (core.environment.variables["SVC_SKIP_GMAIL_WATCHER"]) return
    // Loaded only where it is used: most gateways watch no mailbox.
    const { createBatchPoster, createGmailWatch, createTailscale } = await import("../hooks/gmail/index.ts")
    watch = createGmailWatch({
      config: () => core.config().hooks.gmail,
      stateFolder: core.environment.stateFolder,
      maxConnections: core.handles.perListener,
      clock: core.clock,
      log,
      redactor: core.redactor,
      verifier: createVerifier({ clock: core.clock, log }),
      tailscale: createTailscale(core.environment.variables),
      deliver: (batch, signal) => {
        const { path, token = "", gmail } = core.config().hooks
        const url = gmail?.hookUrl ?? `http://127.0.0.1:${gatewayPort()}${path}/gmail`
        return createBatchPoster({ url, token, clock: core.clock })(batch, signal)
      },
    })
    try {
      await watch.start()
    } catch (error) {
      watch = undefined
      if (!(error instanceof AppError)) throw error
      log.error({ reason: error.message, hint: error.hint }, "mail watch not started")
    }
  }
}
