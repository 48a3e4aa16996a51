// A browser service of its own for a test: state in a temporary folder, a free control port, a real headless browser,
// and a client that speaks to it over HTTP.
import pino from "pino"
import { browserSchema } from "../../src/browser/config.ts"
import {
  type BrowserConfig,
  type BrowserService,
  type BrowserServiceOptions,
  createBrowserService,
} from "../../src/browser/index.ts"
import { createBackground, createRedactor, Secret, systemClock, systemIds } from "../../src/kernel/index.ts"
import { temporaryFolder } from "./temporary.ts"

export interface Reply {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
  headers: Headers
}

export interface BrowserBench {
  service: BrowserService
  url: string
  stateFolder: string
  token: string
  logLines: string[]
  /** What the service sees as its configuration; after a change `service.reconfigure()` tells it. */
  settings: BrowserConfig
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /** The number of the element of this name in the last snapshot of the tab, which is taken here. */
  refOf(name: string, query?: string): Promise<string>
  stop(): Promise<void>
}

export const testToken = "token-of-the-browser-tests"

export async function startBrowserBench(
  settings: Partial<BrowserConfig> = {},
  options: Partial<BrowserServiceOptions> & { stateFolder?: string; keepState?: boolean } = {},
): Promise<BrowserBench> {
  const stateFolder = options.stateFolder ?? temporaryFolder()
  const logLines: string[] = []
  const log = pino({ level: "debug" }, { write: (line: string) => void logLines.push(line) })
  // Tests run as root in containers, where the browser's own sandbox cannot.
  const noSandbox = process.getuid?.() === 0
  const current = { ...browserSchema.parse({ headless: true, noSandbox }), ...settings }
  current.profiles = { ...current.profiles }
  const service = createBrowserService({
    settings: () => current,
    writeProfile(name, entry) {
      if (entry) current.profiles[name] = { driver: "managed", ...entry }
      else delete current.profiles[name]
    },
    stateFolder,
    controlPort: 0,
    token: new Secret(testToken),
    clock: systemClock,
    ids: systemIds,
    log,
    redactor: createRedactor(),
    background: createBackground(log),
    environment: process.env,
    ...options,
  })
  await service.start()
  const url = `http://127.0.0.1:${service.controlPort}`
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${testToken}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  return {
    service,
    url,
    stateFolder,
    token: testToken,
    logLines,
    settings: current,
    call,
    async refOf(name, query = "") {
      const { body } = await call("GET", `/snapshot${query}`)
      const found = Object.entries(body.refs as Record<string, { name?: string }>).find(([, ref]) => ref.name === name)
      if (!found) throw new Error(`no ref named ${name} in:\n${body.snapshot}`)
      return found[0]
    },
    async stop() {
      await service.stop()
    },
  }
}
