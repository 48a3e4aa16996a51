// `svc node run`: this machine's browser for the gateway on another one. The program is loaded only by this command, and stays
// small: it may run for months to be used once.
import { pathToFileURL } from "node:url"
import type { Command } from "commander"
import type { runNodeHost } from "../../src/main/node-host.ts"
import { type CliContext, siblingProgram, stateFolder } from "../context.ts"
import { addExamples } from "../options.ts"
import { version } from "../version.ts"
import { printable } from "../../src/kernel/terminal-text.ts"

interface Options {
  gateway: string
  name?: string
  allowPlain?: true
  newGateway?: true
  stateDir?: string
  json?: true
}

export function addNode(program: Command, context: CliContext): void {
  const node = program.command("node").description("Let the gateway on another machine use this one's browser")
  const run = node
    .command("run")
    .description("Connect to the gateway and stay connected, until it is stopped")
    .requiredOption("--gateway <url>", "address of the gateway: wss://..., or ws:// on this machine")
    .option("--name <name>", "how the node calls itself when it asks to be let in (default: the host's name)")
    .option("--allow-plain", "connect to another machine without TLS: what is said is open on the way")
    .option("--new-gateway", "the gateway at this address was set up anew: ask it to be let in again")
    .option("--json", "print what happens as JSON, one object each")
    .option("--state-dir <dir>", "state folder (default: $SVC_STATE_DIR, else ~/.svc)")
    .action(async (options: Options) => {
      const host = (await import(
        pathToFileURL(siblingProgram(context, "node-host.cjs", "src/main/node-host.ts")).href
      )) as { runNodeHost: typeof runNodeHost }
      context.exitCode = await host.runNodeHost({
        gateway: options.gateway,
        allowPlain: options.allowPlain ?? false,
        newGateway: options.newGateway ?? false,
        name: options.name,
        version,
        stateFolder: stateFolder(context, options.stateDir),
        workerProgram: siblingProgram(context, "node-worker.mjs", "src/main/node-worker.ts"),
        environment: context.environment,
        // Beside whatever a program that starts it reads.
        say: (text) => (options.json ? context.output.json({ message: text }) : context.output.note(printable(text))),
        signal: untilStopped(context),
      })
    })
  addExamples(
    run,
    "svc node run --gateway wss://gateway.example",
    "svc node run --gateway 127.0.0.1:18789 --name studio",
  )
  addExamples(node, "svc node run --gateway wss://gateway.example")
}

/** Ctrl-C, and what a service manager sends; the second one ends the process at once. */
function untilStopped(context: CliContext): AbortSignal {
  const controller = new AbortController()
  const stop = () => {
    if (controller.signal.aborted) process.exit(130)
    controller.abort()
  }
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) process.on(signal, stop)
  return AbortSignal.any([controller.signal, context.interrupted()])
}
