// `svc gateway`: loads the gateway's own bundle into this process and runs it until it ends. Signals are its own.
import { pathToFileURL } from "node:url"
import { setTimeout as delay } from "node:timers/promises"
import type { Command } from "commander"
import { siblingProgram, type CliContext } from "../context.ts"
import { addExamples, addLocalOptions, wholeNumber } from "../options.ts"

interface Options {
  port?: number
  stateDir?: string
  config?: string
  quiet?: true
  logLevel?: string
  newStore?: true
  selfTest?: true
}

/** What the gateway's entry point exports. */
interface GatewayProgram {
  runGateway(options: {
    stateDir?: string
    configPath?: string
    port?: number
    quiet?: boolean
    logLevel?: string
    program?: string
    named?: (text: string) => string
    newStore?: boolean
    selfTest?: boolean
  }): Promise<number>
}

export const logLevels = ["trace", "debug", "info", "warn", "error", "fatal"] as const

export function addGateway(program: Command, context: CliContext): void {
  const command = program.command("gateway").description("Run the gateway in the foreground")
  addLocalOptions(command)
    .option(
      "--port <n>",
      "port to listen on (default: $SVC_GATEWAY_PORT, else gateway.port)",
      wholeNumber("--port", 1, 65_535),
    )
    .option("--config <path>", "configuration file (default: $SVC_CONFIG_PATH, else svc.json in the state folder)")
    .option("--quiet", "print nothing but errors; the log file is written all the same")
    .addOption(command.createOption("--log-level <level>", "least level that is logged").choices(logLevels))
    .option("--new-store", "begin anew if the store is damaged, missing or empty; what is there is set aside")
    .option("--self-test", "start all but what takes in, works and sends, then end; for a copy of a state folder")
    .action(async (options: Options) => {
      const path = siblingProgram(context, "gateway.mjs", "src/main.ts")
      const gateway = (await import(pathToFileURL(path).href)) as GatewayProgram
      const code = await gateway.runGateway({
        program: context.programFile,
        named: (text) => context.output.named(text),
        ...(options.stateDir === undefined ? {} : { stateDir: options.stateDir }),
        ...(options.config === undefined ? {} : { configPath: options.config }),
        ...(options.port === undefined ? {} : { port: options.port }),
        ...(options.quiet === undefined ? {} : { quiet: options.quiet }),
        ...(options.logLevel === undefined ? {} : { logLevel: options.logLevel }),
        ...(options.newStore === undefined ? {} : { newStore: options.newStore }),
        ...(options.selfTest === undefined ? {} : { selfTest: options.selfTest }),
      })
      const all = Promise.all([written(process.stdout), written(process.stderr)])
      // A reader that does not read must not keep the gateway from ending.
      await Promise.race([all, delay(lastWordsMs)])
      process.exit(code)
    })
  addExamples(command, "svc gateway --port 19000 --log-level debug")
}

/** For a reader that is slow. */
const lastWordsMs = 500

/** Whether or not it could be. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => void stream.write("", () => resolve()))
}
