// `svc doctor`: what is wrong with this installation and what to type next; with or without a running gateway.
import { pathToFileURL } from "node:url"
import type { Command } from "commander"
import type {
  applyFix as ApplyFix,
  describeFix as DescribeFix,
  examine as Examine,
  Finding,
} from "../../src/doctor/doctor.ts"
import type { GatewayStatus } from "../../src/gateway/contract.ts"
import { AppError } from "../../src/kernel/errors.ts"
import { siblingProgram, stateFolder, type CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { addExamples, addLocalOptions } from "../options.ts"
import { printableLine } from "../../src/kernel/terminal-text.ts"

interface Options {
  json?: true
  stateDir?: string
  fix?: true
  yes?: true
}

interface Doctor {
  examine: typeof Examine
  describeFix: typeof DescribeFix
  applyFix: typeof ApplyFix
}

/** A gateway that hangs must not keep anybody from being told so. */
const statusMs = 700

export function addDoctor(program: Command, context: CliContext): void {
  const doctor = program
    .command("doctor")
    .description("Find what is wrong with this installation, with the next step for each")
  addLocalOptions(doctor)
    .option("--fix", "mend one thing: shows what would change, and asks")
    .option("--yes", "with --fix: do not ask")
    .action(async (options: Options) => {
      context.exitCode = await runDoctor(context, options)
    })
  addExamples(doctor, "svc doctor", "svc doctor --json", "svc doctor --fix")
  doctor.addHelpText(
    "after",
    "\nReads only, unless --fix is given. Ends with 1 when there is an error among the findings.",
  )
}

async function runDoctor(context: CliContext, options: Options): Promise<number> {
  const { output } = context
  const variables = { ...context.environment, SVC_STATE_DIR: stateFolder(context, options.stateDir) }
  const path = siblingProgram(context, "doctor-commands.mjs", "src/doctor/doctor.ts")
  const { examine, ...fixes } = (await import(pathToFileURL(path).href)) as Doctor
  const gateway = await askGateway(context, options.stateDir)
  const findings = await examine({
    variables,
    nodeVersion: process.versions.node,
    gateway,
    signal: context.interrupted(),
  })
  const fixed = options.fix ? await mendOne(context, options, { ...fixes, findings, variables }) : undefined
  const isBad = findings.some((found) => found.severity === "error" && found !== fixed)
  if (options.json) {
    output.json({
      ok: !isBad,
      running: gateway !== undefined,
      findings,
      ...(options.fix ? { fixed: fixed?.code ?? null } : {}),
    })
  } else if (!options.fix) tell(context, findings)
  return isBad ? 1 : 0
}

type Gateway = Parameters<typeof Examine>[0]["gateway"]

async function askGateway(context: CliContext, stateDir: string | undefined): Promise<Gateway> {
  try {
    const client = connectGateway(context, { ...(stateDir === undefined ? {} : { stateDir }), timeout: statusMs })
    const status = (await client.call("GET", "/api/status")) as GatewayStatus
    return { problems: [...(status.problems ?? [])] }
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "gateway-unreachable") return undefined
    return {
      problems: [
        error.code === "timeout"
          ? { part: "gateway", problem: `no answer within ${statusMs} ms: it is busy, or it hangs`, next: "svc logs" }
          : { part: "gateway", problem: error.message, ...(error.hint === undefined ? {} : { next: error.hint }) },
      ],
    }
  }
}

function tell({ output }: CliContext, findings: readonly Finding[]): void {
  if (findings.length === 0) return output.line("nothing is wrong")
  for (const { severity, code, cause, command, fix } of findings) {
    output.line(printableLine(`${severity.padEnd(8)}${code}: ${cause}`))
    if (command !== undefined)
      output.line(printableLine(output.named(`        ${command}${fix ? "   (or: svc doctor --fix)" : ""}`)))
  }
}

/** What was mended; the first that can be. */
async function mendOne(
  { output }: CliContext,
  options: Options,
  doctor: Omit<Doctor, "examine"> & { findings: readonly Finding[]; variables: NodeJS.ProcessEnv },
): Promise<Finding | undefined> {
  const found = doctor.findings.find(({ fix }) => fix !== undefined)
  if (found?.fix === undefined) {
    output.note("there is nothing that svc doctor can mend by itself; see: svc doctor")
    return undefined
  }
  output.note(printableLine(`${found.code}: ${found.cause}`))
  for (const line of doctor.describeFix(found.fix, doctor.variables)) output.note(printableLine(line))
  if (!options.yes && !(await confirms())) {
    output.note("nothing was changed")
    return undefined
  }
  doctor.applyFix(found.fix, doctor.variables)
  output.note("done")
  return found
}

async function confirms(): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new AppError("bad-request", "There is no terminal to ask on", { hint: "pass --yes to have it done" })
  }
  const { openTerminal } = await import("../setup/terminal.ts")
  const terminal = openTerminal({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test(await terminal.ask("Do it? [y/N] "))
  } finally {
    terminal.end()
  }
}
