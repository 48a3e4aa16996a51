// `svc backup ...`: the commands are the backups' own, in a file of their own that only this group loads.
import { pathToFileURL } from "node:url"
import type { Command } from "commander"
import type { BackupProgramIo, registerBackupCommands } from "../../src/main/backup-cli.ts"
import { siblingProgram, type CliContext } from "../context.ts"
import { addExamples, addLocalOptions } from "../options.ts"
import { formatTable } from "../table.ts"
import { printable } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

interface BackupCommands {
  registerBackupCommands: typeof registerBackupCommands
}

export async function addBackup(program: Command, context: CliContext): Promise<void> {
  const path = siblingProgram(context, "backup-commands.mjs", "src/main/backup-cli.ts")
  const commands = (await import(pathToFileURL(path).href)) as BackupCommands
  const io: BackupProgramIo = {
    print: (text) => context.output.line(printable(context.output.named(text))),
    printJson: (value) => context.output.json(value),
    note: (text) => context.output.note(printable(text)),
    table: (headings, rows) => formatTable(headings, rows).trimEnd(),
    time: describeTime,
    variables: context.environment,
    interrupted: () => context.interrupted(),
    addOptions: (command) => void addLocalOptions(command),
    addExamples: (command, ...lines) => void addExamples(command, ...lines),
  }
  commands.registerBackupCommands(program, io)
}
