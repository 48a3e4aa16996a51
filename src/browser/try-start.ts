// Whether a browser can be started here, for whoever sets the gateway up: started once with an empty profile, asked who it is,
// and ended.
import { AppError, withTimeout } from "../kernel/index.ts"
import { browserArguments, browserEnvironment } from "./profiles/arguments.ts"
import { detectBrowser, systemMachine } from "./profiles/detect/index.ts"
import { endGroup } from "./profiles/end-process.ts"
import { launchOnPipe } from "./profiles/launch.ts"

const startMs = 20_000
const endWaits = { politeMs: 1_000, firmMs: 2_000 }

export interface TriedBrowser {
  path: string
  /** As it names itself, such as `Chrome/140.0`. */
  version: string
}

/** Throws `browser-not-found`, `browser-start-failed` or `aborted`. `folder`: an empty one, which the caller removes. */
export async function tryBrowser(options: {
  executablePath: string | undefined
  noSandbox: boolean
  folder: string
  home: string
  variables: Readonly<Record<string, string | undefined>>
  signal: AbortSignal
}): Promise<TriedBrowser> {
  const { executablePath, noSandbox, folder, home, variables, signal } = options
  const machine = systemMachine({ homeFolder: home, environment: variables })
  const { path } = await detectBrowser(machine, executablePath)
  const words = { way: { kind: "pipe" as const }, proxy: undefined, userDataFolder: folder, headless: true, noSandbox }
  const limit = withTimeout(startMs, "Starting the browser", signal)
  try {
    const browser = await launchOnPipe({
      path,
      arguments: browserArguments({ ...words, platform: machine.platform }),
      environment: browserEnvironment(variables),
      timeoutMs: startMs,
      signal: limit.signal,
    })
    try {
      const { product } = await browser.connection.root.send<{ product: string }>("Browser.getVersion")
      return { path, version: product.replace("HeadlessChrome", "Chrome") }
    } finally {
      browser.connection.close()
      await endGroup(browser.pid, endWaits)
    }
  } catch (error) {
    if (signal.aborted) throw new AppError("aborted", "Stopped")
    throw error
  } finally {
    limit.clear()
  }
}
