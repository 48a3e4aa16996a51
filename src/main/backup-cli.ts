// `svc backup ...` as a program of its own: it brings the configuration's schema and the store's migrations with it, which
// the command line must not load at its start.
import type { Command } from "commander"
import { type BackupCommandIo, registerBackupCommands as register } from "../backup/cli.ts"
import { version } from "./version.ts"

export type BackupProgramIo = Omit<BackupCommandIo, "version">

export function registerBackupCommands(program: Command, io: BackupProgramIo): void {
  register(program, { ...io, version: version() })
}
