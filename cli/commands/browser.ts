// `svc browser ...`: the commands are the browser's own; they get the way to the control service and to the screen.
import type { Command } from "commander"
import { registerBrowserCommands } from "../../src/browser/cli.ts"
import { lendFile, placeFile } from "../browser-files.ts"
import { type CliContext, stateFolder } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { defaultTimeoutMs, wholeNumber } from "../options.ts"
import { printable } from "../../src/kernel/terminal-text.ts"
import { addTakeover } from "./takeover.ts"

export function addBrowser(program: Command, context: CliContext): void {
  registerBrowserCommands(program, {
    call(method, path, { query, body, timeoutMs, options }) {
      const { stateDir, timeout } = options as { stateDir?: string; timeout?: number }
      const gateway = connectGateway(context, stateDir === undefined ? {} : { stateDir })
      return gateway.callBrowser(method, path, {
        ...(query === undefined ? {} : { query }),
        ...(body === undefined ? {} : { body }),
        timeoutMs: timeout ?? timeoutMs,
      })
    },
    lend: (path, options) => lendFile(path, stateFolder(context, options["stateDir"] as string | undefined)),
    place: placeFile,
    // A page's own words are in it.
    print: (text) => context.output.line(printable(text)),
    named: (text) => context.output.named(text),
    printJson: (value) => context.output.json(value),
    failed: () => void (context.exitCode = 1),
    note: (text) => context.output.note(printable(text)),
    async ask({ message, context: words }, { json, stateDir, timeout = defaultTimeoutMs }) {
      const { talk } = await import("./agent.ts")
      await talk(context, message, {
        context: words,
        picture: [],
        wait: true,
        timeout: timeout as number,
        ...(json === true ? { json } : {}),
        ...(stateDir === undefined ? {} : { stateDir: stateDir as string }),
      })
    },
    addOptions: (command) =>
      void command
        .option("--timeout <ms>", "give up waiting for the gateway after this time", wholeNumber("--timeout", 1))
        .option("--state-dir <dir>", "state folder (default: $SVC_STATE_DIR, else ~/.svc)"),
  })
  const browser = program.commands.find((command) => command.name() === "browser")
  if (browser) addTakeover(browser, context)
}
