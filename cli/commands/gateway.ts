// `svc gateway`: loads the gateway's own bundle into this process and runs it until it ends. Signals are its own.
import { pathToFileURL } from "node:url"
import type { Command } from "commander"
import { siblingProgram, type CliContext } from "../context.ts"
import { addExamples, addLocalOptions, wholeNumber } from "../options.ts"

interface Options {
  port?: number
  stateDir?: string
  config?: string
  quiet?: true
  logLevel?: string
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
    .action(async (options: Options) => {
      const path = siblingProgram(context, "gateway.mjs", "src/main.ts")
      const gateway = (await import(pathToFileURL(path).href)) as GatewayProgram
      const code = await gateway.runGateway({
        program: context.programFile,
        ...(options.stateDir === undefined ? {} : { stateDir: options.stateDir }),
        ...(options.config === undefined ? {} : { configPath: options.config }),
        ...(options.port === undefined ? {} : { port: options.port }),
        ...(options.quiet === undefined ? {} : { quiet: options.quiet }),
        ...(options.logLevel === undefined ? {} : { logLevel: options.logLevel }),
      })
      await Promise.all([written(process.stdout), written(process.stderr)])
      process.exit(code)
    })
  addExamples(command, "svc gateway --port 19000 --log-level debug")
}

function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => void stream.write("", () => resolve()))
}
