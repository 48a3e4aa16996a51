// What the configuration and the rights of its files say: errors, missing variables, doubts, secrets, the bot, the owner.
import { statSync } from "node:fs"
import { join } from "node:path"
import { isLoopbackBind } from "../gateway/config.ts"
import {
  type ConfigSnapshot,
  type Environment,
  type Variables,
  findWidelyWritable,
  formatConfigPath,
  formatIssue,
  loadConfigFile,
} from "../config/index.ts"
import { findConfigWarnings } from "../main/config-findings.ts"
import { type Finding, type FindingCode, finding } from "./contract.ts"

export interface Looked {
  findings: Finding[]
  /** Undefined when it cannot be used. */
  snapshot: ConfigSnapshot | undefined
}

export function lookAtConfiguration(variables: Variables, environment: Environment): Looked {
  const { configPath: path, envFile } = environment
  const loaded = loadConfigFile({ path, env: variables, missingVariables: "leave-out" })
  const findings: Finding[] = []
  if (envFile.problem) {
    const { message, fix: command, kind } = envFile.problem
    const mode = kind === "foreign" || kind === "unreadable" ? undefined : modeOf(envFile.path)
    const fix =
      mode === undefined ? {} : { fix: { kind: "rights" as const, path: envFile.path, from: mode, to: 0o600 } }
    findings.push(finding("env-file", message, { command, ...fix }))
  }
  if (loaded.kind === "invalid") {
    for (const issue of loaded.issues) {
      findings.push(finding("config-invalid", formatIssue(issue), { command: "svc config validate" }))
    }
    return { findings, snapshot: undefined }
  }
  const { snapshot } = loaded
  for (const each of snapshot.missing) {
    const command = each.path.endsWith("botToken") || each.path.startsWith("models.") ? "svc setup" : undefined
    findings.push(finding("variable-missing", formatIssue(each), command === undefined ? {} : { command }))
  }
  findings.push(...doubts(snapshot), ...chat(snapshot), ...exposure(snapshot), ...rights(snapshot, environment))
  return { findings, snapshot }
}

function doubts(snapshot: ConfigSnapshot): Finding[] {
  // What a missing variable leaves empty is told as that already.
  const missing = new Set(snapshot.missing.map(({ at }) => formatConfigPath(at)))
  const found = findConfigWarnings(snapshot).filter(({ path }) => !missing.has(formatConfigPath(path)))
  return found.map(({ path, message, title }) => {
    const isToken = /form of a bot token/.test(message)
    const code: FindingCode = isToken
      ? "token-malformed"
      : title === "secret weak"
        ? "secret-weak"
        : title === "model may not work"
          ? "model-doubtful"
          : "config-doubtful"
    const key = formatConfigPath(path)
    const command = isToken || code === "model-doubtful" ? "svc setup" : `svc config get '${key}'`
    const profile = key === "browser.defaultProfile"
    const fix = { kind: "config" as const, path: snapshot.path, key: path, value: "managed" }
    return finding(code, `${key}: ${message}`, { command, ...(profile ? { fix } : {}) })
  })
}

function chat({ config, environment }: ConfigSnapshot): Finding[] {
  const { enabled, botToken, tokenFile, accounts, allowFrom } = config.channels.chatapp
  if (!enabled) return []
  const hasOwn = botToken !== undefined || tokenFile !== undefined || environment.chatappBotToken !== undefined
  if (!hasOwn && Object.keys(accounts).length === 0) {
    return [finding("bot-missing", "no bot token is set: nobody can write to the agent", { command: "svc setup" })]
  }
  if (hasOwn && allowFrom.length === 0) {
    const cause = "channels.chatapp.allowFrom is empty: nobody may approve, or change the configuration by chat"
    return [finding("owner-missing", cause, { command: "svc setup --owner first" })]
  }
  return []
}

function exposure({ config }: ConfigSnapshot): Finding[] {
  const { bind } = config.gateway
  if (isLoopbackBind(bind)) return []
  const cause = `gateway.bind is "${bind}": put a TLS proxy in front (docs/guides/exposing.md), or listen on this machine only`
  return [finding("bind-open", cause, { command: "svc config set gateway.bind loopback" })]
}

/** Those of the gateway that hold secrets, and the configuration's. */
function rights({ files, config }: ConfigSnapshot, { stateFolder }: Environment): Finding[] {
  if (process.platform === "win32") return []
  const open = (path: string, wanted: number): Finding[] => {
    const mode = modeOf(path)
    if (mode === undefined || (mode & 0o077) === 0 || (wanted === 0o600 && !statSync(path).isFile())) return []
    const fix = { kind: "rights" as const, path, from: mode, to: wanted }
    const command = `chmod ${wanted.toString(8)} ${path}`
    return [finding("file-open", `others may look into ${path} (mode ${mode.toString(8)})`, { command, fix })]
  }
  const secret = ["gateway-token", "gateway-token.local", "svc.db", "svc.json"].map((name) => join(stateFolder, name))
  const { tokenFile } = config.channels.chatapp
  const own = tokenFile?.startsWith("/") ? [...secret, tokenFile] : secret
  const found = [...open(stateFolder, 0o700), ...own.flatMap((path) => open(path, 0o600))]
  const told = new Set(found.map(({ fix }) => (fix?.kind === "rights" ? fix.path : "")))
  const wide = findWidelyWritable(files).filter((path) => !told.has(path))
  return [
    ...found,
    ...wide.map((path) => {
      const mode = modeOf(path) ?? 0
      const fix = { kind: "rights" as const, path, from: mode, to: mode & ~0o022 }
      return finding("file-open", `others may write the configuration: ${path}`, { command: `chmod go-w ${path}`, fix })
    }),
  ]
}

function modeOf(path: string): number | undefined {
  const info = statSync(path, { throwIfNoEntry: false })
  return info && info.mode & 0o777
}
