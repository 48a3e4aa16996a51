// Profiles that are made and removed while the gateway runs: written into the configuration file, and in use at once.
import type { BrowserServiceOptions, ProfileEntry } from "../browser/index.ts"
import { configInvalid, setConfigValue, unsetConfigValue } from "../config/index.ts"
import type { Core } from "./core.ts"

/** What browser control needs of the configuration. */
export function browserLinks(core: Core): Pick<BrowserServiceOptions, "settings" | "writeProfile"> {
  return {
    settings: () => core.config().browser,
    writeProfile: (name, entry) => writeBrowserProfile(core, name, entry),
  }
}

/** Throws `config-invalid` or `config-write-refused`; then nothing was written. */
export function writeBrowserProfile(core: Core, name: string, entry: ProfileEntry | undefined): void {
  const { configPath: path, variables: env } = core.environment
  const target = { path, env, key: ["browser", "profiles", name] }
  const result = entry === undefined ? unsetConfigValue(target) : setConfigValue({ ...target, value: { ...entry } })
  if (result.kind === "invalid") throw configInvalid(path, result.issues)
  core.holder.reload()
}
