// `svc config ...` with what the other features know of a configuration. Loaded by the command line alone; the models only
// when a file is validated.
import type { Command } from "commander"
import { type ConfigCommandIo, registerConfigCommands as register } from "../config/cli.ts"
import { findWidelyWritable } from "../config/rights.ts"

export type { ConfigCommandIo } from "../config/cli.ts"

export function registerConfigCommands(program: Command, io: ConfigCommandIo): void {
  register(program, {
    ...io,
    async findWarnings(snapshot) {
      const { findConfigWarnings } = await import("./config-findings.ts")
      const wide = findWidelyWritable(snapshot.files).map((file) => ({
        path: [],
        message: `others may write ${file}; the gateway will take that right away: chmod go-w ${file}`,
      }))
      return [...wide, ...findConfigWarnings(snapshot)]
    },
  })
}
