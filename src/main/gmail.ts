// The mail watch beside the gateway: runs while hooks.gmail names an account. Its failure never ends the gateway; one that
// cannot start, such as while another program holds its port, is tried again.
import type { GmailWatch } from "../hooks/gmail/index.ts"
import { createVerifier } from "../hooks/verify/index.ts"
import { AppError, backoffMs } from "../kernel/index.ts"
import type { Core } from "./core.ts"

export interface GmailPart {
  /** Starts what is configured now, after ending what ran before. */
  restart(): Promise<void>
  stop(): Promise<void>
}

const startPolicy = { attempts: Number.POSITIVE_INFINITY, minDelayMs: 5_000, maxDelayMs: 5 * 60_000, jitter: 0.2 }

export function composeGmail(core: Core, gatewayPort: () => number): GmailPart {
  const log = core.log.child({ part: "gmail" })
  // As long as the gateway runs, whatever the configuration says meanwhile.
  const { bind } = core.config().gateway
  let watch: GmailWatch | undefined
  let isStopped = false
  /** Ended by the next restart or stop: a start that waits for its turn then is no longer wanted. */
  let again = new AbortController()
  /** One start or stop after the other: of two starts at once, the first would be ended by nobody. */
  let line: Promise<void> = Promise.resolve()
  const inLine = (work: () => Promise<void>): Promise<void> => {
    const done = line.then(work)
    line = done.catch(() => undefined)
    return done
  }
  const end = async () => {
    again.abort()
    const running = watch
    watch = undefined
    await running?.stop()
  }
  return {
    stop() {
      isStopped = true
      return inLine(end)
    },
    restart: () =>
      inLine(async () => {
        await end()
        await start(1)
      }),
  }

  async function start(attempt: number): Promise<void> {
    if (isStopped) return
    const { hooks } = core.config()
    if (!hooks.enabled || hooks.gmail?.account === undefined) return
    if (core.environment.variables["SVC_SKIP_GMAIL_WATCHER"]) return
    // Loaded only where it is used: most gateways watch no mailbox.
    const { batchUrl, createBatchPoster, createGmailWatch, createTailscale } = await import("../hooks/gmail/index.ts")
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
        const url = batchUrl({ hookUrl: gmail?.hookUrl, gateway: { bind, port: gatewayPort() }, path })
        return createBatchPoster({ url, token, clock: core.clock })(batch, signal)
      },
    })
    try {
      await watch.start()
    } catch (error) {
      watch = undefined
      if (!(error instanceof AppError)) log.error({ err: error, attempt }, "mail watch not started")
      else log.error({ reason: error.message, hint: error.hint, attempt }, "mail watch not started")
      startAgain(attempt + 1)
    }
  }

  function startAgain(attempt: number): void {
    const waiting = new AbortController()
    again = waiting
    core.background.run("start mail watch again", async () => {
      try {
        await core.clock.sleep(backoffMs(startPolicy, Math.min(attempt - 1, 16)), waiting.signal)
      } catch (error) {
        if (waiting.signal.aborted) return
        throw error
      }
      await inLine(async () => {
        if (!waiting.signal.aborted) await start(attempt)
      })
    })
  }
}
