// `svc setup`: asks what a gateway needs, tries each answer, writes it, and starts the gateway. The questions themselves are
// in a file of their own that only this command loads.
import { spawn } from "node:child_process"
import { pathToFileURL } from "node:url"
import { Option, type Command } from "commander"
import type { PairingList } from "../../src/gateway/api.ts"
import { AppError } from "../../src/kernel/errors.ts"
import type { GatewayLink, SetupAnswers, SetupReport, runSetup as RunSetup } from "../../src/setup/setup.ts"
import { siblingProgram, stateFolder, type CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import type { Terminal } from "../setup/terminal.ts"
import { addExamples, addLocalOptions } from "../options.ts"
import { shellWord } from "../../src/kernel/shell-word.ts"
import { printable } from "../../src/kernel/terminal-text.ts"

interface Options {
  json?: true
  stateDir?: string
  model?: string
  modelKey?: string
  modelUrl?: string
  region?: string
  project?: string
  botToken?: string
  apiRoot?: string
  browser?: string
  browserSandbox: boolean
  owner?: string
  service?: boolean
  start?: boolean
}

export function addSetup(program: Command, context: CliContext): void {
  const setup = program
    .command("setup")
    .description("Set the gateway up: model, bot, browser and owner, each tried at once")
  addLocalOptions(setup)
    .option("--model <id>", "provider/model, or offline for the model that needs no key")
    .option("--model-key <key>", "its key; - reads a line of the standard input")
    .option("--model-url <address>", "address of a server of your own, or of your Azure resource")
    .option("--region <name>", "region of bedrock or vertex")
    .option("--project <id>", "project of vertex")
    .option(
      "--bot-token <token>",
      "token of the bot, from @BotFather; - reads a line of the standard input; none: no chat",
    )
    .option("--api-root <address>", "address of the chat platform, for an own server or the emulator")
    .option("--browser <answer>", "yes, no, or the path of the browser's program")
    .option("--no-browser-sandbox", "start the browser without its own sandbox, which root must agree to")
    .option("--owner <id>", "user id of the owner; first: whoever writes to the bot next; none: nobody yet")
    .addOption(new Option("--service", "run it as a service of this machine").default(undefined))
    .option("--no-service", "do not")
    .addOption(new Option("--start", "at the end, run the gateway in this terminal").default(undefined))
    .option("--no-start", "do not (as without a terminal)")
    .action(async (options: Options) => {
      context.exitCode = await runSetup(context, options)
    })
  addExamples(
    setup,
    "svc setup",
    "svc setup --model offline --bot-token none --browser no --no-start",
    "svc setup --model anthropic/claude-sonnet-4-5 --model-key - --bot-token - --browser yes --owner first < secrets.txt",
  )
  setup.addHelpText(
    "after",
    "\nRun again, it shows what is there and changes one thing. Without a terminal every answer is an option.",
  )
}

async function runSetup(context: CliContext, options: Options): Promise<number> {
  const { output } = context
  const answers = await readAnswers(options)
  const program = siblingProgram(context, "setup-commands.mjs", "src/setup/setup.ts")
  const { runSetup: run } = (await import(pathToFileURL(program).href)) as { runSetup: typeof RunSetup }
  const hasTerminal = process.stdin.isTTY && process.stdout.isTTY && !options.json
  const { openTerminal } = await import("../setup/terminal.ts")
  const terminal = hasTerminal ? openTerminal({ input: process.stdin, output: process.stdout }) : undefined
  const say = (line: string) => (terminal ? terminal.say(printable(output.named(line))) : output.note(printable(line)))
  const controller = new AbortController()
  terminal?.onEnd(() => controller.abort())
  const signal = terminal ? controller.signal : context.interrupted()
  const gateway = await findGateway(context, options.stateDir)
  let isSetUp = false
  try {
    const variables = { ...context.environment, SVC_STATE_DIR: stateFolder(context, options.stateDir) }
    const report = await run({ variables, answers, conversation: terminal, say, signal, gateway })
    isSetUp = true
    // Whoever only changes something has been asked before.
    const asker = report.wasComplete ? undefined : terminal
    const service = await runService(context, options, { terminal: asker, isRunning: gateway !== undefined })
    const isStarting =
      !service && gateway === undefined && (options.start ?? (terminal !== undefined && report.changed.length > 0))
    tell(context, options, { report, service, isStarting, isRunning: gateway !== undefined })
    terminal?.end()
    if (!isStarting) return 0
    return await runSelf(context, ["gateway", ...stateWords(options)])
  } catch (error) {
    if (terminal && error instanceof Error && (error as Partial<AppError>).code === "aborted") {
      output.note(
        isSetUp
          ? `Stopped. Everything else is set up; ${commandOf(options, "gateway")} starts it`
          : `Stopped. Answers that worked are kept; ${commandOf(options, "setup")} goes on`,
      )
    }
    throw error
  } finally {
    terminal?.end()
  }
}

async function readAnswers(options: Options): Promise<SetupAnswers> {
  const { model, modelKey, modelUrl, region, project, botToken, apiRoot, browser, owner } = options
  const wanted = Object.entries({ key: modelKey, token: botToken }).flatMap(([name, value]) =>
    value === "-" ? name : [],
  )
  const lines = wanted.length > 0 ? await readLines(wanted) : []
  const read = (value: string | undefined) => (value === "-" ? lines.shift() : value)
  const given = {
    model,
    modelKey: read(modelKey),
    modelUrl,
    region,
    project,
    botToken: read(botToken),
    apiRoot,
    browser,
    owner,
    noSandbox: options.browserSandbox ? undefined : true,
  }
  const entries = Object.entries(given).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as SetupAnswers
}

/** The key first, then the token. */
async function readLines(wanted: readonly string[]): Promise<string[]> {
  const { text } = await import("node:stream/consumers")
  const lines = (await text(process.stdin)).split("\n").map((line) => line.trim())
  const said = lines.filter((line) => line !== "")
  if (said.length >= wanted.length) return said
  const names = wanted.map((name) => `the ${name}`).join(", then ")
  throw new AppError("bad-request", `The standard input should hold ${names}, one a line; it holds ${said.length}`)
}

/** Undefined while none runs for this state folder. */
async function findGateway(context: CliContext, stateDir: string | undefined): Promise<GatewayLink | undefined> {
  const path = "/api/pairing/chatapp"
  const connect = () => connectGateway(context, stateDir === undefined ? {} : { stateDir })
  try {
    await connect().call("GET", "/api/status")
  } catch (error) {
    if (error instanceof AppError && error.code === "gateway-unreachable") return undefined
    throw error
  }
  return {
    async listRequests() {
      try {
        return readItems<PairingList["requests"][number]>(await connect().call("GET", path), "requests")
      } catch (error) {
        // It may be starting anew, with what was written just now.
        if (error instanceof AppError && (error.code === "gateway-unreachable" || error.code === "not-ready")) return []
        throw error
      }
    },
    async approve(request) {
      await connect().call("POST", `${path}/approve`, { body: { ...request, notify: true } })
    },
  }
}

function stateWords({ stateDir }: Options): string[] {
  return stateDir === undefined ? [] : ["--state-dir", stateDir]
}

/** As it is typed for the same state folder. */
function commandOf(options: Options, name: string): string {
  return ["svc", name, ...stateWords(options)].map(shellWord).join(" ")
}

/** Question 5, where this program can: whether a service was installed. */
async function runService(
  context: CliContext,
  options: Options,
  { terminal, isRunning }: { terminal: Terminal | undefined; isRunning: boolean },
): Promise<boolean> {
  const { commandGroups } = await import("../groups.ts")
  const isThere = commandGroups.some(({ name }) => name === "service")
  if (!isThere && options.service) throw new AppError("bad-request", "This release installs no service")
  if (!isThere || isRunning || options.service === false) return false
  if (!options.service && !(terminal && (await wantsService(terminal)))) return false
  const code = await runSelf(context, ["service", "install", ...stateWords(options)])
  if (code === 0) return true
  if (options.service) throw new AppError("internal", "The service could not be installed; everything else is set up")
  // Asked and answered at a terminal: the gateway can still run there.
  terminal?.say("  The service could not be installed; everything else is set up.")
  return false
}

async function wantsService(terminal: Terminal): Promise<boolean> {
  terminal.say("\nService")
  for (;;) {
    const answer = await terminal.ask("Run it as a service of this machine, from now on? [y/N] ")
    if (/^y(es)?$/i.test(answer)) return true
    if (/^(no?)?$/i.test(answer)) return false
    terminal.say("  Please answer y or n.")
  }
}

interface Outcome {
  report: SetupReport
  service: boolean
  isStarting: boolean
  isRunning: boolean
}

function tell({ output }: CliContext, options: Options, { report, service, isStarting, isRunning }: Outcome): void {
  if (options.json) return output.json({ ok: true, ...report, service, running: isRunning })
  output.line("")
  for (const [name, words] of Object.entries(report.settings)) output.line(printable(`${name.padEnd(8)} ${words}`))
  output.line(`config   ${report.configPath}`)
  const words = (name: string) => output.named(commandOf(options, name))
  if (isStarting) output.line(`\nStarting the gateway; Ctrl-C ends it. Later: ${words("gateway")}`)
  else if (isRunning) output.line(`\nThe gateway that runs takes it up by itself: ${words("status")}`)
  else if (!service) output.line(`\nStart it with: ${words("gateway")}`)
}

/** Another command of ours, at this terminal; resolves with its exit code. */
async function runSelf(context: CliContext, words: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [...process.execArgv, context.programFile, ...words], {
    // Our own answer on the standard output stays alone there.
    stdio: words.includes("install") ? ["inherit", 2, 2] : "inherit",
    env: context.environment,
  })
  // On a terminal Ctrl-C reaches the child by itself; we only wait for its end.
  const forward = (signal: NodeJS.Signals) => {
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal)
  }
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const
  for (const signal of signals) process.on(signal, forward)
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once("error", reject)
      child.once("exit", (code) => resolve(code ?? 1))
    })
  } finally {
    for (const signal of signals) process.off(signal, forward)
  }
}
