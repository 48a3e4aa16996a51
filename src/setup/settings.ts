// The settings that a set-up reads, tries and writes: configuration and `.env`. An answer is tried as a whole configuration
// before anything of it is written; keys and tokens go to `.env` only.
import { existsSync } from "node:fs"
import {
  type ConfigPath,
  type ConfigSnapshot,
  type Variables,
  changeEnvFile,
  configInvalid,
  loadConfigFile,
  readEnvironment,
  setConfigValue,
  unsetConfigValue,
} from "../config/index.ts"
import { realConfigPath } from "../config/load.ts"
import { AppError, type Json, type JsonObject, isJsonObject } from "../kernel/index.ts"

export interface Change {
  /** Undefined removes the key. */
  value: Json | undefined
  key: ConfigPath
}

export interface Answer {
  config: readonly Change[]
  /** For `.env`. */
  variables: Readonly<Record<string, string>>
}

export interface Settings {
  stateFolder: string
  configPath: string
  envPath: string
  /** What holds now. Throws `config-invalid`. */
  read(): ConfigSnapshot
  /** What would hold with this answer; nothing is written. Throws `config-invalid`. */
  preview(answer: Answer): ConfigSnapshot
  write(answer: Answer): void
  /** Variables that are set outside of `.env`, and so win over it. */
  isSetOutside(name: string): boolean
}

export function openSettings(variables: Variables): Settings {
  const { stateFolder, configPath, envFile } = readEnvironment(variables)
  const load = (env: Variables, overlay?: ReadonlyMap<string, string>): ConfigSnapshot => {
    const how = { path: configPath, env, missingVariables: "leave-out" as const }
    const result = loadConfigFile(overlay ? { ...how, overlay } : how)
    if (result.kind === "ok") return result.snapshot
    throw configInvalid(configPath, result.issues)
  }
  const isSetOutside = (name: string) => (variables[name] ?? "") !== ""
  return {
    stateFolder,
    configPath,
    envPath: envFile.path,
    read: () => load(variables),
    preview(answer) {
      const source = structuredClone(load(variables).source)
      for (const { key, value } of answer.config) put(source, key, value)
      const overlay = new Map([[realConfigPath(configPath), JSON.stringify(source)]])
      return load({ ...variables, ...answer.variables }, overlay)
    },
    write({ config, variables: secrets }) {
      // First, so that a gateway that runs finds what the configuration refers to.
      if (Object.keys(secrets).length > 0) changeEnvFile(stateFolder, secrets)
      for (const { key, value } of config) writeKey(configPath, variables, key, value)
      if (!existsSync(configPath)) throw new AppError("config-write-refused", `${configPath} was not written`)
    },
    isSetOutside,
  }
}

function put(source: JsonObject, key: ConfigPath, value: Json | undefined): void {
  let at: JsonObject = source
  for (const segment of key.slice(0, -1)) {
    const next = at[segment]
    at = isJsonObject(next) ? next : ((at[segment] = {}) as JsonObject)
  }
  const last = String(key.at(-1))
  if (value === undefined) delete at[last]
  else at[last] = value
}

function writeKey(path: string, env: Variables, key: ConfigPath, value: Json | undefined): void {
  const target = { path, env, key, missingVariables: "leave-out" as const }
  const result = value === undefined ? unsetConfigValue(target) : setConfigValue({ ...target, value })
  if (result.kind === "invalid") throw configInvalid(path, result.issues)
}
