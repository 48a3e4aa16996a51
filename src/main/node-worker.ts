// The process of a node that has its browsers: configuration, log and the browser service without a listener. Told what to do by
// the process that has the connection, and ended with it.
import { homedir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { type BrowserService, createBrowserService } from "../browser/index.ts"
import {
  type ConfigHolder,
  createConfigHolder,
  readEnvironment,
  setConfigValue,
  unsetConfigValue,
} from "../config/index.ts"
import { configInvalid } from "../config/index.ts"
import {
  AppError,
  type LogHandle,
  type Redactor,
  Secret,
  createBackground,
  createLog,
  createRedactor,
  describeError,
  systemClock,
  systemIds,
} from "../kernel/index.ts"
import type { FromWorker, ToWorker, WorkerFacts } from "../nodes/host/index.ts"
import { createOwnPorts } from "./own-ports.ts"

/** How often it is looked whether a browser has come or gone. */
const lookMs = 2_000

interface Parts {
  handle: LogHandle
  holder: ConfigHolder
  browser: BrowserService
}

function tell(message: FromWorker): void {
  // The process at the other end may just be ending.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

async function open(): Promise<Parts> {
  const environment = readEnvironment(process.env)
  const redactor = createRedactor()
  const folder = join(environment.stateFolder, "node")
  const handle = createLog({ folder: join(folder, "logs"), level: "info", redactor })
  const holder = createConfigHolder({
    path: environment.configPath,
    env: environment.variables,
    // What it is made of stands in the folder of the machine; what the node keeps is its own.
    stateFolder: folder,
    log: handle.log.child({ part: "config" }),
  })
  const learn = () => {
    for (const secret of holder.snapshot().secrets) redactor.add(secret)
    handle.log.level = holder.current().logging.level
  }
  learn()
  holder.subscribe(learn)
  const browser = serviceOf({ handle, holder, redactor, folder, environment })
  await browser.start()
  return { handle, holder, browser }
}

function serviceOf(parts: {
  handle: LogHandle
  holder: ConfigHolder
  redactor: Redactor
  folder: string
  environment: ReturnType<typeof readEnvironment>
}): BrowserService {
  const { handle, holder, redactor, folder, environment } = parts
  const { log } = handle
  const config = () => holder.current()
  const target = { path: environment.configPath, env: environment.variables }
  const ownPorts = createOwnPorts(config, () => config().gateway.port)
  const gatewayPort = readGatewayPort()
  return createBrowserService({
    settings: () => config().browser,
    writeProfile(name, entry) {
      const key = ["browser", "profiles", name]
      const result = entry
        ? setConfigValue({ ...target, key, value: { ...entry } })
        : unsetConfigValue({ ...target, key })
      if (result.kind === "invalid") throw configInvalid(target.path, result.issues)
      holder.reload()
    },
    stateFolder: folder,
    listens: false,
    offered: () => config().nodeHost.browserProxy,
    controlPort: config().gateway.port + 2,
    ownPorts: () => (gatewayPort === undefined ? ownPorts() : [...ownPorts(), gatewayPort]),
    // Nothing that listens takes it, but the relay for programs of this machine.
    token: new Secret(systemIds.token(32)),
    clock: systemClock,
    ids: systemIds,
    log,
    redactor,
    background: createBackground(log),
    environment: { HOME: homedir(), ...environment.variables },
  })
}

/** Where the gateway is reached on this machine, through a tunnel for one: its own door, whatever its port is here. */
function readGatewayPort(): number | undefined {
  const { values } = parseArgs({ options: { "gateway-port": { type: "string" } } })
  return values["gateway-port"] === undefined ? undefined : Number(values["gateway-port"])
}

function factsOf({ holder, browser }: Parts): WorkerFacts {
  const offer = browser.offer()
  return {
    offers: offer ? { commands: ["browser.proxy"], browser: offer } : { commands: [] },
    files: [holder.snapshot().path, ...holder.snapshot().files.slice(1)],
    isInUse: browser.isInUse,
  }
}

async function serve(parts: Parts): Promise<void> {
  const { browser, holder, handle } = parts
  const running = new Map<number, AbortController>()
  let told = JSON.stringify(factsOf(parts))
  const look = () => {
    const facts = factsOf(parts)
    if (JSON.stringify(facts) === told) return
    told = JSON.stringify(facts)
    tell({ kind: "facts", facts })
  }
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
  process.on("message", (message: ToWorker) => {
    if (message.kind === "stop") return stop()
    if (message.kind === "cancel")
      return running.get(message.id)?.abort(new AppError("aborted", "Nobody waits any more"))
    const { id, params, files } = message
    const controller = new AbortController()
    running.set(id, controller)
    void browser.perform(params, files, controller.signal).then((done) => {
      running.delete(id)
      // Before the answer: whoever reads it may end this process when nothing is in use.
      look()
      tell({ kind: "done", id, done })
    })
  })
  process.once("disconnect", stop)
  // The other process has them too, and ends this one by its own way.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined)
  holder.subscribe(
    () => void browser.reconfigure().then(look, (error: unknown) => handle.log.error({ err: error }, "reload")),
  )
  const timer = setInterval(look, lookMs)
  tell({ kind: "ready", facts: factsOf(parts) })
  await stopped
  clearInterval(timer)
  for (const controller of running.values()) controller.abort(new AppError("aborted", "The node stops"))
  await browser.stop()
  holder.stop()
}

try {
  const parts = await open()
  await serve(parts)
  parts.handle.flush()
  process.exit(0)
} catch (error) {
  const hint = error instanceof AppError && error.hint !== undefined ? { hint: error.hint } : {}
  tell({ kind: "failed", message: describeError(error), ...hint })
  process.exitCode = 1
  process.disconnect?.()
}
