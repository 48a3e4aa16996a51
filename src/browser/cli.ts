// The commands `svc browser ...`, put together. Only types are imported besides the kernel's errors: nothing here may
// slow the program's start.
import type { Command } from "commander"
import { actionCommands } from "./cli/actions.ts"
import { addCommand, type BrowserCommandIo, type CommandSpec } from "./cli/command.ts"
import { cookieCommands, debugCommands, storageCommands } from "./cli/debug.ts"
import { fileCommands } from "./cli/files.ts"
import { lifecycleCommands } from "./cli/lifecycle.ts"
import { pageCommands } from "./cli/page.ts"
import { settingCommands } from "./cli/settings.ts"
import { tabByIndexCommands, tabCommands } from "./cli/tabs.ts"

export type { BrowserCall, BrowserCommandIo } from "./cli/command.ts"

export function registerBrowserCommands(program: Command, io: BrowserCommandIo): void {
  const browser = program
    .command("browser")
    .description("Control the browser")
    .option("--json", "print JSON")
    .option("--browser-profile <name>", "browser profile")
  const add = (parent: Command, spec: CommandSpec) => addCommand(parent, spec, io)
  for (const spec of [
    ...lifecycleCommands,
    ...tabCommands,
    ...pageCommands,
    ...actionCommands,
    ...debugCommands,
    ...fileCommands,
  ])
    add(browser, spec)
  const tab = browser.command("tab").description("List, open, select or close tabs by their place in the list")
  for (const spec of tabByIndexCommands) add(tab, spec)
  const cookies = browser.command("cookies").description("Show, set or clear cookies")
  for (const spec of cookieCommands) add(cookies, spec)
  const storage = browser.command("storage").description("Show or change what a page keeps in its storage")
  for (const kind of ["local", "session"] as const) {
    const part = storage.command(kind).description(`The ${kind} storage of a page`)
    for (const spec of storageCommands(kind)) add(part, spec)
  }
  const set = browser.command("set").description("Change what a tab pretends to be, until it is changed again")
  for (const spec of settingCommands) add(set, spec)
  browser.addHelpText("after", "\nExample:\n  svc browser open https://example.com && svc browser snapshot")
}
