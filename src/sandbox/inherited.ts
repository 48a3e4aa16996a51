// Handles that whoever started the gateway has left open to it, as some terminals and editors do: what runs in a box gets an
// empty file in their place. Handles that Node opens are passed on to nobody.
import { type IOType, type StdioNull, type StdioPipe } from "node:child_process"
import { closeSync, openSync, readFileSync, readdirSync } from "node:fs"

type Stdio = IOType | StdioNull | StdioPipe | number

const closeOnExec = 0o2_000_000

let known: readonly number[] | undefined

/** Those that a new process would get, of this one: what it was started with stays. None where it cannot be told. */
function inheritedHandles(): number[] {
  const folder = "/proc/self/fdinfo"
  try {
    return readdirSync(folder)
      .map(Number)
      .filter((handle) => (flagsOf(`${folder}/${handle}`) & closeOnExec) === 0)
  } catch {
    return []
  }
}

/** Of one that is gone by now: as if it was not to be passed on. */
function flagsOf(path: string): number {
  try {
    return Number.parseInt(/^flags:\s*([0-7]+)$/m.exec(readFileSync(path, "utf8"))?.[1] ?? "", 8)
  } catch {
    return closeOnExec
  }
}

/** Calls `start` with these and an empty file for everything else that the process would get. */
export function withoutInherited<Started>(wanted: readonly Stdio[], start: (stdio: Stdio[]) => Started): Started {
  const handles = (known ??= inheritedHandles()).filter((handle) => handle >= wanted.length)
  if (handles.length === 0) return start([...wanted])
  const empty = openSync("/dev/null", "r")
  try {
    const stdio = Array.from({ length: Math.max(...handles) + 1 }, (_, handle): Stdio => {
      return wanted[handle] ?? (handles.includes(handle) ? empty : "ignore")
    })
    return start(stdio)
  } finally {
    closeSync(empty)
  }
}
