// The commands `svc browser ...`, put together. Only types are imported besides the kernel's errors: nothing here may
// slow the program's start.
import type { Command } from "commander"
import { actionCommands } from "./cli/actions.ts"
import { addCommand, type BrowserCommandIo, type CommandSpec } from "./cli/command.ts"
import { cookieCommands, debugCommands, storageCommands, traceCommands } from "./cli/debug.ts"
import { explainCommand } from "./cli/explain.ts"
import { extensionCommands } from "./cli/extension.ts"
import { fileCommands } from "./cli/files.ts"
import { lifecycleCommands } from "./cli/lifecycle.ts"
import { pageCommands } from "./cli/page.ts"
import { profileCommands } from "./cli/profiles.ts"
import { schemaCommand } from "./cli/schema.ts"
import { runCommand, scriptCommands } from "./cli/scripts.ts"
import { settingCommands } from "./cli/settings.ts"
import { tabByIndexCommands, tabCommands } from "./cli/tabs.ts"

export type { BrowserCall, BrowserCommandIo } from "./cli/command.ts"

interface Group {
  /** None for the commands that stand directly behind `svc browser`. */
  name?: string
  description?: string
  specs: CommandSpec[]
  groups?: Group[]
}

const groups: Group = {
  specs: [
    ...lifecycleCommands,
    ...profileCommands,
    ...tabCommands,
    ...pageCommands,
    ...actionCommands,
    runCommand,
    ...debugCommands,
    ...fileCommands,
    explainCommand,
    schemaCommand(() => browserCommands()),
  ],
  groups: [
    {
      name: "tab",
      description: "List, open, select or close tabs by their place in the list",
      specs: tabByIndexCommands,
    },
    {
      name: "extension",
      description: "The extension that brings in tabs of your own browser",
      specs: extensionCommands,
    },
    { name: "scripts", description: "Kept scripts: list, show, run or remove them", specs: scriptCommands },
    { name: "trace", description: "Record what happens in the browser, for the trace viewer", specs: traceCommands },
    { name: "cookies", description: "Show, set or clear cookies", specs: cookieCommands },
    {
      name: "storage",
      description: "Show or change what a page keeps in its storage",
      specs: [],
      groups: (["local", "session"] as const).map((kind) => ({
        name: kind,
        description: `The ${kind} storage of a page`,
        specs: storageCommands(kind),
      })),
    },
    {
      name: "set",
      description: "Change what a tab pretends to be, until it is changed again",
      specs: settingCommands,
    },
  ],
}

/** Every command by the words behind `svc browser`; a list is also what its group does without a word. */
export function browserCommands(): { words: string; spec: CommandSpec }[] {
  const listed = (group: Group, path: string[]): { words: string; spec: CommandSpec }[] => [
    ...group.specs.map((spec) => ({ words: [...path, spec.usage.split(" ", 1)[0]].join(" "), spec })),
    ...(group.groups ?? []).flatMap((inner) => listed(inner, [...path, inner.name ?? ""])),
  ]
  return listed(groups, [])
}

export function registerBrowserCommands(program: Command, io: BrowserCommandIo): void {
  const browser = program
    .command("browser")
    .description("Control the browser")
    .option("--json", "print JSON")
    .option("--browser-profile <name>", "browser profile")
    .option("--node <name>", "browser of this node")
  addGroup(browser, groups, io)
  browser.addHelpText("after", "\nExample:\n  svc browser open https://example.com && svc browser snapshot")
}

function addGroup(parent: Command, group: Group, io: BrowserCommandIo): void {
  for (const spec of group.specs) addCommand(parent, spec, io)
  for (const inner of group.groups ?? []) {
    addGroup(parent.command(inner.name ?? "").description(inner.description ?? ""), inner, io)
  }
}
