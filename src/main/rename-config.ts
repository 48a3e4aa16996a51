// Entries of the configuration file under another name, written back and in use when it returns.
import { type ConfigPath, type WriteResult, renameConfigEntries } from "../config/index.ts"
import type { Core } from "./core.ts"

export function createRenameConfig(core: Pick<Core, "environment" | "holder">) {
  return (entries: readonly { key: ConfigPath; to: string }[]): WriteResult => {
    const { configPath, variables } = core.environment
    const result = renameConfigEntries({ path: configPath, env: variables, entries })
    if (result.kind === "ok" && result.files.length > 0) core.holder.reload()
    return result
  }
}
