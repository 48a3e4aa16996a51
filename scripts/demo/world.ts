// Everything the demo runs: the emulator, a small shop, the gateway as a process of its own, a temporary state folder.
import { type ChildProcess, execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { type Browser, chromium } from "playwright-core"
import { type Emulator, startEmulator } from "../../emulator/index.ts"
import { detectBrowser, systemMachine } from "../../src/browser/profiles/detect/index.ts"
import { visitorArguments } from "../../test/support/chromium.ts"
import { freePort } from "../../test/support/gateway.ts"
import { type PagesServer, startPagesServer } from "../../test/support/pages-server.ts"
import { NotObserved } from "./timeline.ts"

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const program = join(root, "dist", "svc.cjs")
const run = promisify(execFile)

export interface Person {
  id: number
  firstName: string
}

export class DemoWorld {
  readonly stateFolder = mkdtempSync(join(tmpdir(), "svc-demo-"))
  readonly hookToken = "demo-hook-token-for-this-run-only"
  emulator!: Emulator
  shop!: PagesServer
  person!: Person
  port = 0
  #gateway: ChildProcess | undefined

  get gatewayUrl(): string {
    return `http://127.0.0.1:${this.port}`
  }

  async startSurroundings(): Promise<void> {
    this.emulator = await startEmulator()
    this.shop = await startPagesServer({ folder: join(root, "test", "fixtures", "pages", "shop") })
    this.port = await freePort()
    const added = this.emulator.control.addUser({ firstName: "Ada", username: "ada" })
    this.person = { id: added.id, firstName: "Ada" }
    this.#writeConfig()
  }

  #writeConfig(): void {
    const config = {
      gateway: { port: this.port },
      hooks: { enabled: true, token: this.hookToken },
      channels: { chatapp: { botToken: this.emulator.token, apiRoot: this.emulator.url } },
      // Chromium cannot use its own sandbox as root, which is what containers usually run as.
      browser: { headless: true, defaultProfile: "managed", noSandbox: process.getuid?.() === 0 },
    }
    writeFileSync(join(this.stateFolder, "svc.json"), `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 })
  }

  /** Milliseconds until the gateway said that it is ready. */
  async startGateway(): Promise<number> {
    const started = performance.now()
    const output = openSync(join(this.stateFolder, "gateway.out"), "a", 0o600)
    this.#gateway = spawn(process.execPath, [program, "gateway"], {
      stdio: ["ignore", output, output],
      env: this.#environment(),
    })
    closeSync(output)
    const gateway = this.#gateway
    for (;;) {
      if (gateway.exitCode !== null) throw new NotObserved(`the gateway ended at once:\n${this.logTail()}`)
      const response = await fetch(`${this.gatewayUrl}/readyz`).catch(() => undefined)
      if (response?.ok) return performance.now() - started
      if (performance.now() - started > 20_000) throw new NotObserved("the gateway was not ready within 20 s")
      await delay(20)
    }
  }

  async killGateway(): Promise<void> {
    const gateway = this.#gateway
    if (!gateway) throw new Error("no gateway is running")
    const ended = once(gateway, "exit")
    gateway.kill("SIGKILL")
    await ended
  }

  /** Standard output of `svc <parameters>`. */
  async svc(...parameters: string[]): Promise<string> {
    const { stdout } = await run(process.execPath, [program, ...parameters], { env: this.#environment() })
    return stdout
  }

  async hook(path: string, body: object): Promise<{ status: number; body: Record<string, unknown> }> {
    const response = await fetch(`${this.gatewayUrl}/hooks/${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.hookToken}` },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }

  /** Beside the gateway's own: somebody who looks at its page. */
  async startBrowser(): Promise<Browser> {
    const machine = systemMachine({ homeFolder: homedir(), environment: process.env })
    return await chromium.launch({
      executablePath: (await detectBrowser(machine, undefined)).path,
      args: [...visitorArguments],
    })
  }

  /** Writes to the bot as the demo's person; the id of the message. */
  say(text: string): number {
    return this.emulator.control.sendText({ userId: this.person.id, text }).message_id
  }

  async reply(match: string | RegExp, after: number, what: string) {
    const wanted = { chatId: this.person.id, from: "bot" as const, match, after }
    try {
      return await this.emulator.control.waitForMessage(wanted, { timeoutMs: 30_000 })
    } catch (error) {
      const shown = this.emulator.control.messages({ chatId: this.person.id, after })
      const texts = shown.map((message) => JSON.stringify(message.text ?? message.caption ?? Object.keys(message)))
      throw new NotObserved(`${what} did not arrive in the chat. It shows: ${texts.join(", ") || "nothing"}`, {
        cause: error,
      })
    }
  }

  invitation(): string {
    return `
Everything is still running. The page of the gateway opens by the link above; for another one:
  page         SVC_STATE_DIR=${this.stateFolder} npx svc dashboard
  chat page    ${this.emulator.pageUrl}
               choose Ada and write, for example: open ${this.shop.url} ; read page
  gateway      ${this.gatewayUrl}  (SVC_STATE_DIR=${this.stateFolder} npx svc status)
  shop         ${this.shop.url}
  webhook      curl -H 'Authorization: Bearer ${this.hookToken}' -d '{"message":"say hello from a webhook"}' ${this.gatewayUrl}/hooks/agent
Stop it with Ctrl-C here.
`
  }

  /** The page, in the person's own browser where there is a desktop; its link is printed. */
  async openPage(): Promise<void> {
    const child = spawn(process.execPath, [program, "dashboard"], { stdio: "inherit", env: this.#environment() })
    await once(child, "exit")
  }

  async stopAndCheck(): Promise<string[]> {
    const gateway = this.#gateway
    const started = performance.now()
    const ended = gateway && once(gateway, "exit")
    await this.svc("stop")
    // The command sees the end before we are told of it.
    await Promise.race([ended, delay(5_000, undefined, { ref: false })])
    if (gateway?.exitCode !== 0) throw new NotObserved(`the gateway ended with ${gateway?.exitCode}, not 0`)
    const took = Math.round(performance.now() - started)
    const left = processesOf(this.stateFolder)
    await this.stop()
    if (left.length > 0) throw new NotObserved(`processes were left behind: ${left.join(", ")}`)
    return [`the gateway ended with 0 in ${took} ms and left no browser behind`]
  }

  async stop(): Promise<void> {
    const gateway = this.#gateway
    if (gateway && gateway.exitCode === null && gateway.signalCode === null) {
      const ended = once(gateway, "exit")
      gateway.kill("SIGTERM")
      await Promise.race([ended, delay(12_000, undefined, { ref: false }).then(() => gateway.kill("SIGKILL"))])
    }
    await this.shop?.stop()
    await this.emulator?.stop()
    rmSync(this.stateFolder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }

  logTail(): string {
    const path = join(this.stateFolder, "gateway.out")
    if (!existsSync(path)) return ""
    return `Last lines of the gateway:\n${readFileSync(path, "utf8").split("\n").slice(-25).join("\n")}\n`
  }

  #environment(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      SVC_STATE_DIR: this.stateFolder,
      SVC_GATEWAY_PORT: "",
      CHATAPP_BOT_TOKEN: "",
      NO_COLOR: "1",
    }
  }
}

/** Processes whose command line names the folder: a browser that was left behind. */
function processesOf(folder: string): string[] {
  if (process.platform !== "linux") return []
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(folder)
    } catch (error) {
      // It ended while we looked.
      if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return false
      throw error
    }
  })
}
