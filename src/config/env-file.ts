// `.env` of the state folder: variables that hold in every terminal and for a service, so that keys need not stand in the
// configuration. What is really set in the process's environment wins. Read anew with every read of the configuration.
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { parseEnv } from "node:util"
import { AppError } from "../kernel/errors.ts"
import { writePrivateFile } from "../kernel/private-file.ts"

export interface EnvFile {
  /** Whether or not it exists. */
  path: string
  values: Readonly<Record<string, string>>
  /** Why it is not as it should be; `used: false` when nothing of it holds. */
  problem?: { kind: "readable" | "writable" | "foreign" | "unreadable"; used: boolean; message: string; fix: string }
}

export const envFileName = ".env"

/** Says where the folder itself is, so it cannot stand in there. */
const outside = new Set(["SVC_STATE_DIR", "HOME", "USERPROFILE"])
/** Far above any real one. */
const maxBytes = 256 * 1024
const readableByOthers = 0o044
const writableByOthers = 0o022

export function envFilePath(stateFolder: string): string {
  return join(stateFolder, envFileName)
}

/** Never throws: whoever misses a variable is told of the file then. */
export function readEnvFile(stateFolder: string): EnvFile {
  const path = envFilePath(stateFolder)
  const without = (problem: EnvFile["problem"] & object): EnvFile => ({ path, values: {}, problem })
  try {
    const info = statSync(path, { throwIfNoEntry: false })
    if (info === undefined) return { path, values: {} }
    if (!info.isFile() || info.size > maxBytes) {
      const message = `${path} is not used: it is no file, or larger than ${maxBytes / 1024} kB`
      return without({ kind: "unreadable", used: false, message, fix: `ls -l ${path}` })
    }
    const own = process.getuid?.()
    if (own !== undefined && info.uid !== own && info.uid !== 0 && own !== 0) {
      const message = `${path} is not used: it belongs to another user`
      return without({ kind: "foreign", used: false, message, fix: `chown ${own} ${path}` })
    }
    const isPosix = process.platform !== "win32"
    if (isPosix && (info.mode & writableByOthers) !== 0) {
      const message = `${path} is not used: others may write it`
      return without({ kind: "writable", used: false, message, fix: `chmod 600 ${path}` })
    }
    const values = parse(readFileSync(path, "utf8"))
    if (!isPosix || (info.mode & readableByOthers) === 0) return { path, values }
    const message = `others may read ${path}, which holds secrets`
    return { path, values, problem: { kind: "readable", used: true, message, fix: `chmod 600 ${path}` } }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    const message = `${path} cannot be read: ${code}`
    return without({ kind: "unreadable", used: false, message, fix: `chmod 600 ${path}` })
  }
}

function parse(text: string): Record<string, string> {
  const entries = Object.entries(parseEnv(text.replace(/^\ufeff/, "")))
  const kept = entries.filter(([name, value]) => value !== undefined && !outside.has(name))
  return Object.fromEntries(kept) as Record<string, string>
}

/** Variables of ours that are no secrets, whatever they hold. */
const plainName = /^(?:SVC_|PATH$|LANG$|LC_|TZ$|NO_COLOR$|NODE_ENV$)/
const leastCharacters = 8
const secretName = /KEY|TOKEN|SECRET|PASS|AUTH|CRED/

/** What of it must not appear in any log: everything long enough to be one, and what is named as one. */
export function secretsOf({ values }: EnvFile): string[] {
  return Object.entries(values)
    .filter(([name, value]) => secretName.test(name) || (value.length >= leastCharacters && !plainName.test(name)))
    .map(([, value]) => value)
}

/** Sets or, with `undefined`, removes variables. Other lines and comments stay. No copy is kept: old keys should go. */
export function changeEnvFile(stateFolder: string, changes: Readonly<Record<string, string | undefined>>): void {
  const path = envFilePath(stateFolder)
  const before = existsSync(path) ? readFileSync(path, "utf8") : firstLine
  const text = editEnvText(before, changes)
  if (text === before && existsSync(path)) return
  writePrivateFile(path, text)
}

const firstLine =
  "# Keys and tokens of svc, for every terminal and for the service. What is set in the environment wins.\n"

/** For the preview of a change, too. */
export function editEnvText(text: string, changes: Readonly<Record<string, string | undefined>>): string {
  let result = text
  for (const [name, value] of Object.entries(changes)) {
    result = setLine(result, name, value === undefined ? undefined : `${name}=${quote(name, value)}`)
  }
  // A value over several lines that holds such a line, say: nothing is written that would be read as something else.
  const read = parse(result)
  const wrong = Object.entries(changes).find(([name, value]) => !outside.has(name) && read[name] !== value)
  if (wrong === undefined) return result
  throw new AppError("config-write-refused", `${wrong[0]} cannot be written into the file: change it there yourself`)
}

function setLine(text: string, name: string, line: string | undefined): string {
  const lines = text.split("\n")
  const isIts = (each: string) => nameOf(each) === name
  const last = lines.findLastIndex(isIts)
  if (last >= 0) {
    // The last one counts; those before it would only mislead.
    const changed = (each: string, index: number) =>
      !isIts(each) ? [each] : index === last && line !== undefined ? [line] : []
    return lines.flatMap(changed).join("\n")
  }
  if (line === undefined) return text
  return `${text === "" || text.endsWith("\n") ? text : `${text}\n`}${line}\n`
}

function nameOf(line: string): string | undefined {
  return /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=/.exec(line)?.[1]
}

function quote(name: string, value: string): string {
  if (/[\r\n\0]/.test(value)) throw new AppError("bad-request", `${name} must be one line`)
  if (/^[\w./:+@%,=~-]*$/.test(value)) return value
  const sign = ["'", '"', "`"].find((each) => !value.includes(each) && !(each === '"' && value.includes("\\")))
  if (sign === undefined) throw new AppError("bad-request", `${name} holds every kind of quotation mark`)
  return `${sign}${value}${sign}`
}
