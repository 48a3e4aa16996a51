// Paths of configuration keys: `channels.chatapp.groups["-100.1"].allowFrom[0]` as text, segments inside.
import { AppError } from "../kernel/errors.ts"

/** Names of object members, and numbers for elements of arrays. */
export type ConfigPath = readonly (string | number)[]

const forbidden = new Set(["__proto__", "constructor", "prototype"])

/** Throws AppError `bad-request` for bad syntax, `config-write-refused` for a segment that names a prototype. */
export function parseConfigPath(text: string): (string | number)[] {
  const segments: (string | number)[] = []
  let rest = text.trim()
  if (rest === "") throw badPath(text, "it is empty")
  while (rest !== "") {
    const step = readStep(rest, segments.length === 0)
    if (!step) throw badPath(text, `it cannot be read from "${rest}" on`)
    segments.push(step.segment)
    rest = rest.slice(step.length)
  }
  refusePrototypeSegments(segments)
  return segments
}

/** For paths that did not come as text. */
export function refusePrototypeSegments(path: ConfigPath): void {
  const bad = path.find((segment) => forbidden.has(String(segment)))
  if (bad === undefined) return
  throw new AppError("config-write-refused", `"${bad}" cannot be part of a configuration key`)
}

function readStep(rest: string, first: boolean): { segment: string | number; length: number } | undefined {
  const index = /^\[(\d{1,6})\]/.exec(rest)
  if (index && !first) return { segment: Number(index[1]), length: index[0].length }
  const quoted = /^\[("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\]/.exec(rest)
  if (quoted?.[1] !== undefined) return { segment: unquote(quoted[1]), length: quoted[0].length }
  const name = first ? /^([^.[\]"']+)/.exec(rest) : /^\.([^.[\]"']+)/.exec(rest)
  if (name?.[1] !== undefined) return { segment: name[1], length: name[0].length }
  return undefined
}

function unquote(text: string): string {
  return text.slice(1, -1).replace(/\\(.)/g, "$1")
}

function badPath(text: string, why: string): AppError {
  return new AppError("bad-request", `"${text}" is not a configuration key: ${why}`, {
    hint: 'Write keys as channels.chatapp.dmPolicy, groups["-100.1"].enabled or customCommands[0].command',
  })
}

export function formatConfigPath(path: ConfigPath): string {
  let text = ""
  for (const segment of path) {
    if (typeof segment === "number") text += `[${segment}]`
    else if (/^[A-Za-z_$][\w$-]*$/.test(segment)) text += text === "" ? segment : `.${segment}`
    else text += `[${JSON.stringify(segment)}]`
  }
  return text
}
