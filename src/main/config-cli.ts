// `svc config ...` with what the other features know of a configuration. Loaded by the command line alone; the models only
// when a file is validated.
import type { Command } from "commander"
import { type ConfigCommandIo, registerConfigCommands as register } from "../config/cli.ts"

export type { ConfigCommandIo } from "../config/cli.ts"

export function registerConfigCommands(program: Command, io: ConfigCommandIo): void {
  register(program, {
    ...io,
    async findWarnings({ config, environment }) {
      const [{ findModelWarnings }, { findSecretWarnings }] = await Promise.all([
        import("./models/warnings.ts"),
        import("./secret-warnings.ts"),
      ])
      return [...findSecretWarnings(config), ...findModelWarnings(config, environment.variables)]
    },
  })
}
