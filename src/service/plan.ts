// From what was asked and what this machine is to a plan: which program, for whom, on which folders. What would start today
// and be gone tomorrow is refused here.
import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { dirname, isAbsolute, join, relative } from "node:path"
import {
  type Config,
  configInvalid,
  loadConfigFile,
  readEnvironment,
  resolveHome,
  type Variables,
} from "../config/index.ts"
import { AppError } from "../kernel/index.ts"
import type { ServicePlan } from "./contract.ts"
import { searchPath } from "./unit.ts"

export interface PlanOptions {
  name: string
  scope: "user" | "system"
  runAs: string | undefined
  stateDir: string | undefined
  config: string | undefined
}

export interface PlanFacts {
  variables: Variables
  platform: NodeJS.Platform
  uid: number
  userName: string
  node: string
  /** Real path of `dist/svc.cjs`. */
  program: string
}

/** Throws `bad-request`, `forbidden`, `conflict` or `config-invalid`. */
export function makePlan(options: PlanOptions, facts: PlanFacts): ServicePlan {
  checkName(options.name)
  checkProgram(facts.program)
  const owner = ownerOf(options, facts)
  const variables = { ...facts.variables, HOME: owner.home }
  const own = readEnvironment({
    ...variables,
    ...(options.stateDir === undefined ? {} : { SVC_STATE_DIR: options.stateDir }),
    ...(options.config === undefined ? {} : { SVC_CONFIG_PATH: options.config }),
    SVC_GATEWAY_PORT: undefined,
  })
  const { stateFolder, configPath } = own
  const config = readConfigAsService(stateFolder, configPath, owner.home)
  return {
    name: options.name,
    scope: options.scope,
    user: options.scope === "system" ? owner.name : undefined,
    home: owner.home,
    node: facts.node,
    program: facts.program,
    stateFolder,
    configPath: configPath === join(stateFolder, "svc.json") ? undefined : configPath,
    writable: writableFolders(config, { stateFolder, home: owner.home, configPath }),
    chromiumSandbox: chromiumSandbox(facts.platform),
  }
}

function checkName(name: string): void {
  if (/^[a-z][a-z0-9-]{0,39}$/.test(name)) return
  throw new AppError("bad-request", `"${name}" is no name for a service`, {
    hint: "use small letters, digits and dashes, such as svc-work",
  })
}

/** What npx or a temporary folder holds is cleaned up at some time, and the service with it. */
function checkProgram(program: string): void {
  const isFleeting = /[/\\]_npx[/\\]/.test(program)
  if (!isFleeting && program.endsWith(".cjs")) return
  const why = isFleeting
    ? `lies in npx's cache, which is cleaned up (${program})`
    : `runs from its sources (${program})`
  throw new AppError("conflict", `This svc ${why}: a service needs one that stays`, {
    hint: isFleeting
      ? "install it first: npm install --global svc-gateway; then: svc service install"
      : "build it first: npm run build; then: npx svc service install",
  })
}

export function ownerOf(
  { scope, runAs }: Pick<PlanOptions, "scope" | "runAs">,
  facts: PlanFacts,
): { name: string; home: string } {
  const { variables, uid, userName } = facts
  if (scope === "user") {
    if (runAs !== undefined) throw new AppError("bad-request", "--run-as belongs to --system")
    return { name: userName, home: readEnvironment(variables).home }
  }
  const name = runAs ?? variables["SUDO_USER"]
  if (uid !== 0) {
    throw new AppError("forbidden", "Only root can install a service of the system", {
      hint: `sudo ${facts.node} ${facts.program} service install --system --run-as ${userName}; or without --system, for you alone`,
    })
  }
  if (name === undefined) {
    throw new AppError("bad-request", "Say whom the service runs as: --run-as <user>", {
      hint: "root is a bad choice, Chromium has no sandbox there; to make a user: adduser --system --group --home /var/lib/svc svc",
    })
  }
  return { name, home: homeOf(name, facts.platform) }
}

const lookUp: ExecFileSyncOptionsWithStringEncoding = { encoding: "utf8", timeout: 10_000, stdio: "pipe" }

function homeOf(name: string, platform: NodeJS.Platform): string {
  const missing = new AppError("not-found", `There is no user ${name} on this machine`, {
    hint: `adduser --system --group --home /var/lib/${name} ${name}`,
  })
  if (!/^[a-z_][\w.-]*\$?$/i.test(name)) throw missing
  try {
    if (platform === "darwin") {
      const words = [".", "-read", `/Users/${name}`, "NFSHomeDirectory"]
      return execFileSync("dscl", words, lookUp)
        .replace(/^.*?:\s*/, "")
        .trim()
    }
    return execFileSync("getent", ["passwd", name], lookUp).trim().split(":")[5] || "/"
  } catch {
    throw missing
  }
}

/** Read with the variables that the service will have: what a terminal exports is not there. */
function readConfigAsService(stateFolder: string, configPath: string, home: string): Config {
  const env = { HOME: home, PATH: searchPath, SVC_STATE_DIR: stateFolder, SVC_CONFIG_PATH: configPath }
  const loaded = loadConfigFile({ path: configPath, env })
  if (loaded.kind === "ok") return loaded.snapshot.config
  const { message, hint } = configInvalid(configPath, loaded.issues)
  const isVariable = loaded.issues.some((issue) => /variable/i.test(issue.message))
  throw new AppError("config-invalid", message, {
    hint: isVariable
      ? `A service does not see the variables of this terminal: write NAME=value lines into ${join(stateFolder, ".env")} (chmod 600)`
      : (hint ?? "svc config validate"),
  })
}

function writableFolders(
  config: Config,
  { stateFolder, home, configPath }: { stateFolder: string; home: string; configPath: string },
): string[] {
  const named = [
    config.backup.folder,
    config.agents.defaults.workspace,
    ...(config.agents.list ?? []).map(({ workspace }) => workspace),
  ].filter((folder) => folder !== undefined)
  const folders = [dirname(configPath), ...named.map((folder) => resolveHome(folder, home, stateFolder))]
  return [...new Set(folders)].filter((folder) => !isInside(folder, home) && !isInside(folder, stateFolder)).toSorted()
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return !way.startsWith("..") && !isAbsolute(way)
}

/** Whether a user may make namespaces, which Chromium prefers for its sandbox; where not, it has a setuid helper. */
function chromiumSandbox(platform: NodeJS.Platform): ServicePlan["chromiumSandbox"] {
  if (platform !== "linux") return "namespaces"
  const isOff =
    read("/proc/sys/kernel/unprivileged_userns_clone") === "0" ||
    read("/proc/sys/user/max_user_namespaces") === "0" ||
    read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") === "1"
  return isOff ? "setuid" : "namespaces"
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim()
  } catch {
    // A kernel without this switch.
    return undefined
  }
}
