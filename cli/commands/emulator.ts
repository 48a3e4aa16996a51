// `svc emulator`: runs the chat platform emulator as a process of its own, with the words and signals that we get.
import { spawn } from "node:child_process"
import type { Command } from "commander"
import { siblingProgram, type CliContext } from "../context.ts"
import { addExamples } from "../options.ts"

const forwarded = ["SIGINT", "SIGTERM", "SIGHUP"] as const

export function addEmulator(program: Command, context: CliContext): void {
  const command = program
    .command("emulator")
    .description("Run the chat platform emulator, for trying things out without the real platform")
    .argument("[flags...]", "flags of the emulator; list them with: svc emulator --help")
    // The emulator explains its flags itself.
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (flags: string[]) => {
      context.exitCode = await runEmulator(siblingProgram(context, "emulator.mjs", "emulator/main.ts"), flags)
    })
  addExamples(command, "svc emulator --port 8081")
}

function runEmulator(path: string, flags: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [path, ...flags], { stdio: "inherit" })
  const forward = (signal: NodeJS.Signals) => {
    // On a terminal, Ctrl-C reaches the child by itself; a second one would make it end without tidying up.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal)
  }
  for (const signal of forwarded) process.on(signal, forward)
  return new Promise<number>((resolve, reject) => {
    child.once("error", reject)
    // Ended by a signal counts as a failure, unless the signal was the wish to end it.
    child.once("exit", (code, signal) => resolve(code ?? (signal === "SIGINT" || signal === "SIGTERM" ? 0 : 1)))
  }).finally(() => {
    for (const signal of forwarded) process.off(signal, forward)
  })
}
