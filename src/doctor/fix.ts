// One mend of `svc doctor --fix`: shown as a difference first, then written, with a copy of what a file said before. Comments
// and other keys of the configuration stay.
import { chmodSync, copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { type Variables, configInvalid, setConfigValue } from "../config/index.ts"
import type { Fix } from "./contract.ts"

/** Lines with `-` and `+`, as of a diff. Throws `config-invalid` when the configuration cannot be changed by itself. */
export function describeFix(fix: Fix, variables: Variables): string[] {
  if (fix.kind === "rights") {
    return [`  ${fix.path}`, `- mode ${fix.from.toString(8)}`, `+ mode ${fix.to.toString(8)}`]
  }
  const folder = mkdtempSync(join(tmpdir(), "svc-doctor-"))
  try {
    const copy = join(folder, basename(fix.path))
    copyFileSync(fix.path, copy)
    write({ ...fix, path: copy }, variables)
    return [`  ${fix.path}`, ...difference(readFileSync(fix.path, "utf8"), readFileSync(copy, "utf8"))]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export function applyFix(fix: Fix, variables: Variables): void {
  if (fix.kind === "rights") return chmodSync(fix.path, fix.to)
  write(fix, variables)
}

function write({ path, key, value }: Fix & { kind: "config" }, env: Variables): void {
  const result = setConfigValue({ path, env, key, value, missingVariables: "leave-out" })
  if (result.kind === "invalid") throw configInvalid(path, result.issues)
}

/** An edit of one key is one stretch of lines. */
function difference(before: string, after: string): string[] {
  const [old, now] = [before.split("\n"), after.split("\n")]
  let start = 0
  while (start < old.length && old[start] === now[start]) start += 1
  let end = 0
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1
  return [
    ...old.slice(start, old.length - end).map((line) => `- ${line}`),
    ...now.slice(start, now.length - end).map((line) => `+ ${line}`),
  ]
}
