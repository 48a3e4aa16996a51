// Where an account's bot token comes from: file, then configuration, then (default account only) the environment.
// A token file that is named but cannot be used is an error, never a reason to look further: the operator meant it.
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs"
import { homedir } from "node:os"
import { resolve } from "node:path"
import { defaultAccountId } from "../../config/index.ts"
import type { Log, Redactor } from "../../kernel/index.ts"
import type { AccountSettings } from "./settings.ts"

export type TokenResult =
  | { kind: "found"; token: string; source: "tokenFile" | "config" | "env" }
  | { kind: "none" }
  | { kind: "error"; source: "tokenFile" | "config" | "env"; message: string }

/** Digits of the bot's id, a colon, and the secret part. */
export const tokenPattern = /^[1-9]\d{2,19}:[A-Za-z0-9_-]{10,60}$/

export function resolveToken(options: {
  settings: AccountSettings
  environmentToken: string | undefined
  stateFolder: string
  redactor: Redactor
  log: Log
}): TokenResult {
  const { settings, redactor } = options
  if (settings.tokenFile !== undefined) {
    return check(readTokenFile(settings.tokenFile, options.stateFolder, options.log), "tokenFile", redactor)
  }
  if (settings.botToken !== undefined) return check({ token: settings.botToken.trim() }, "config", redactor)
  const fromEnvironment = options.environmentToken?.trim()
  if (settings.accountId === defaultAccountId && fromEnvironment) {
    return check({ token: fromEnvironment }, "env", redactor)
  }
  return { kind: "none" }
}

export function botIdOf(token: string): string {
  return token.slice(0, token.indexOf(":"))
}

type Candidate = { token: string } | { message: string }

function check(candidate: Candidate, source: "tokenFile" | "config" | "env", redactor: Redactor): TokenResult {
  if ("message" in candidate) return { kind: "error", source, message: candidate.message }
  redactor.add(candidate.token)
  if (tokenPattern.test(candidate.token)) return { kind: "found", token: candidate.token, source }
  return { kind: "error", source, message: "the bot token does not have the form <digits>:<secret>" }
}

function readTokenFile(name: string, stateFolder: string, log: Log): Candidate {
  const path = name.startsWith("~/") ? resolve(homedir(), name.slice(2)) : resolve(stateFolder, name)
  let file: number | undefined
  try {
    file = openSync(path, "r")
    const info = fstatSync(file)
    if (!info.isFile()) return { message: `the token file is not a regular file: ${path}` }
    if ((info.mode & 0o077) !== 0) {
      log.warn({ file: path, hint: `chmod 600 ${path}` }, "token file readable by others")
    }
    const token = info.size > 4096 ? "" : readFileSync(file, "utf8").trim()
    return token === "" ? { message: `the token file holds no token: ${path}` } : { token }
  } catch (error) {
    return { message: `the token file cannot be read: ${path} (${(error as NodeJS.ErrnoException).code})` }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}
