// The one reader of the process's environment, with `.env` of the state folder below it: everything the product takes from
// them, typed.
// The entry point passes `process.env`; tests pass their own map.
import { tmpdir } from "node:os"
import { delimiter, join, resolve } from "node:path"
import { AppError } from "../kernel/errors.ts"
import { homeFolder } from "../kernel/home.ts"
import { type EnvFile, readEnvFile } from "./env-file.ts"

export type Variables = Readonly<Record<string, string | undefined>>

export interface Environment {
  /** What is really set: for the processes that we start. `${NAME}` in the configuration also takes from `.env`. */
  variables: Variables
  envFile: EnvFile
  /** Absolute. */
  stateFolder: string
  /** Absolute. */
  configPath: string
  /** SVC_GATEWAY_PORT; wins over `gateway.port`. */
  gatewayPort: number | undefined
  /** CHATAPP_BOT_TOKEN; for the default account only, when the configuration has no token. */
  chatappBotToken: string | undefined
  /** SVC_CRASH_AT; looked at by test builds only. */
  crashAt: string | undefined
  /** Whether a window could be shown. */
  hasDisplay: boolean
  /** Folders of PATH. */
  searchPath: string[]
  home: string
  /** Absolute. What the gateways of one user share while they run; nothing in it outlives a restart of the machine. */
  runtimeFolder: string
  /** `<PROVIDER>_API_KEY`, such as OPENAI_API_KEY for `openai`. */
  modelKey(provider: string): string | undefined
}

export const configFileName = "svc.json"

/** Throws AppError `config-invalid` when a variable of ours has a value that cannot be used. */
export function readEnvironment(variables: Variables): Environment {
  const home = homeFolder(text(variables, "HOME") ?? text(variables, "USERPROFILE"))
  const stateFolder = resolveHome(text(variables, "SVC_STATE_DIR") ?? join(home, ".svc"), home)
  const envFile = readEnvFile(stateFolder)
  return { ...typed(addBelow(variables, envFile.values), { home, stateFolder, envFile }), variables }
}

type Place = Pick<Environment, "home" | "stateFolder" | "envFile">

function typed(variables: Variables, { home, stateFolder, envFile }: Place): Environment {
  return {
    variables,
    envFile,
    stateFolder,
    configPath: resolveHome(text(variables, "SVC_CONFIG_PATH") ?? join(stateFolder, configFileName), home),
    gatewayPort: readPort(variables, "SVC_GATEWAY_PORT"),
    chatappBotToken: text(variables, "CHATAPP_BOT_TOKEN"),
    crashAt: text(variables, "SVC_CRASH_AT"),
    hasDisplay: hasDisplay(variables),
    searchPath: (variables["PATH"] ?? "").split(delimiter).filter((folder) => folder !== ""),
    home,
    runtimeFolder: runtimeFolder(variables, home),
    modelKey: (provider) => text(variables, `${provider.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY`),
  }
}

/** The environment with the variables of the configuration's `env` section below it: what is really set wins. */
export function addVariables(environment: Environment, below: Readonly<Record<string, string>>): Environment {
  const variables = addBelow(environment.variables, below)
  const { chatappBotToken, modelKey } = typed({ ...variables, SVC_GATEWAY_PORT: undefined }, environment)
  return { ...environment, variables, chatappBotToken, modelKey }
}

function addBelow(variables: Variables, below: Readonly<Record<string, string>>): Variables {
  const missing = Object.entries(below).filter(([name]) => variables[name] === undefined || variables[name] === "")
  return missing.length === 0 ? variables : { ...variables, ...Object.fromEntries(missing) }
}

/** Absolute path of what a person wrote: `~` is the home folder. */
export function resolveHome(path: string, home: string, base = process.cwd()): string {
  if (path === "~") return home
  return /^~[/\\]/.test(path) ? join(home, path.slice(2)) : resolve(base, path)
}

function text(variables: Variables, name: string): string | undefined {
  const value = variables[name]?.trim()
  return value === undefined || value === "" ? undefined : value
}

/** SVC_RUNTIME_DIR, else a folder of this user's in the session's runtime folder or in the temporary one. */
function runtimeFolder(variables: Variables, home: string): string {
  const own = text(variables, "SVC_RUNTIME_DIR")
  if (own !== undefined) return resolveHome(own, home)
  const session = text(variables, "XDG_RUNTIME_DIR")
  return session === undefined ? join(tmpdir(), `svc-${process.getuid?.() ?? "user"}`) : join(session, "svc")
}

function readPort(variables: Variables, name: string): number | undefined {
  const value = text(variables, name)
  if (value === undefined) return undefined
  const port = /^\d{1,5}$/.test(value) ? Number(value) : 0
  if (port >= 1 && port <= 65532) return port
  throw new AppError("config-invalid", `The environment variable ${name} must be a port from 1 to 65532`, {
    hint: "The ports behind it are those of browser control (+2) and the relay (+3)",
  })
}

function hasDisplay(variables: Variables): boolean {
  if (process.platform === "darwin" || process.platform === "win32") return true
  return text(variables, "DISPLAY") !== undefined || text(variables, "WAYLAND_DISPLAY") !== undefined
}
