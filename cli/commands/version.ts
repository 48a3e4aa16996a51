// `svc version`: this program, the Node that runs it, and the gateway, which may be an older one that still runs.
import type { Command } from "commander"
import { AppError } from "../../src/kernel/errors.ts"
import { stateFolder, type CliContext } from "../context.ts"
import { readGatewayFile } from "../gateway/file.ts"
import { addExamples, addLocalOptions } from "../options.ts"
import { version } from "../version.ts"

export function addVersion(program: Command, context: CliContext): void {
  const command = program
    .command("version")
    .description("Print the version of this program, and of the gateway that runs")
  addLocalOptions(command).action((options: { json?: true; stateDir?: string }) => {
    const gateway = gatewayVersion(context, options.stateDir)
    const node = process.versions.node
    if (options.json) {
      return context.output.json({ version, node, program: context.programFile, ...(gateway ? { gateway } : {}) })
    }
    context.output.line(`svc ${version} (Node ${node}, ${context.programFile})`)
    if (gateway === undefined) return
    const isOther = gateway !== version
    context.output.line(
      `gateway ${gateway}${isOther ? context.output.named(", restart it to use this version: svc service restart") : ""}`,
    )
  })
  addExamples(command, "svc version", "svc version --json")
}

/** Undefined while none runs. */
function gatewayVersion(context: CliContext, option: string | undefined): string | undefined {
  try {
    return readGatewayFile(stateFolder(context, option)).version
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}
