// Reading and writing of files in the workspace, by programs inside the box: what a link in there leads to, it leads to
// inside. This process opens none of these files.
import { randomBytes } from "node:crypto"
import { posix } from "node:path"
import { AppError } from "../../kernel/index.ts"
import type { RunCommand } from "../commands.ts"
import { workFolder } from "../contract.ts"
import type { RunResult } from "../run.ts"
import type { Asker } from "../workspace.ts"

export interface FileAsker extends Asker {
  signal: AbortSignal
}

/** Larger ones are worked on by commands. */
export const maxTextBytes = 2 * 1024 * 1024
export const maxSentBytes = 50 * 1024 * 1024
const maxListed = 500

/** Codes of the scripts below. */
const meanings: Readonly<Record<number, (path: string) => AppError>> = {
  20: (path) => new AppError("not-found", `There is no ${path}`, { hint: "The tool list shows what there is" }),
  21: (path) => new AppError("bad-request", `${path} is a folder`, { hint: "The tool list shows what is in it" }),
  22: (path) =>
    new AppError("payload-too-large", `${path} is too large`, { hint: "exec with head, tail or sed shows parts" }),
  23: (path) =>
    new AppError("forbidden", `${path} cannot be used`, {
      hint: "Only /work and /tmp take files, and /tmp ends with each call",
    }),
  24: (path) => new AppError("bad-request", `${path} is no file`),
}

/** Paths are those of the box; what is not absolute is in the workspace. */
export function boxPath(path: string): string {
  if (path.includes("\0")) throw new AppError("bad-request", "A path holds a zero byte")
  return posix.resolve(workFolder, path)
}

const readScript =
  '[ -e "$1" ] || exit 20; [ -d "$1" ] && exit 21; [ -f "$1" ] || exit 24; s=$(wc -c <"$1" 2>/dev/null) || exit 23; [ "$s" -le "$2" ] || exit 22; cat <"$1" 2>/dev/null || exit 23'
const writeScript =
  'exec 2>/dev/null; [ -d "$1" ] && exit 21; mkdir -p -- "$(dirname -- "$1")" || exit 23; t="$1.$2.new"; cat >"$t" || exit 23; [ -e "$1" ] && chmod --reference="$1" "$t"; mv -f -- "$t" "$1" || exit 23'
const listScript =
  '[ -e "$1" ] || exit 20; find "$1" -mindepth 1 -maxdepth "$2" -printf "%y %s %P\\n" 2>/dev/null | head -n "$3"'

export function createFiles(run: RunCommand) {
  const script = async (
    asker: FileAsker,
    text: string,
    path: string,
    rest: { words?: string[]; stdin?: Buffer; max?: number },
  ) => {
    const result = await run(asker, {
      argv: ["/bin/sh", "-c", text, "sh", path, ...(rest.words ?? [])],
      ...(rest.stdin === undefined ? {} : { stdin: rest.stdin }),
      // Room for what is refused as too large in between.
      maxOutputBytes: 2 * (rest.max ?? 64 * 1024),
      signal: asker.signal,
    })
    check(result, path)
    return result.output
  }
  return {
    async read(asker: FileAsker, path: string, maxBytes: number): Promise<Buffer> {
      return await script(asker, readScript, boxPath(path), { words: [String(maxBytes)], max: maxBytes })
    },
    async write(asker: FileAsker, path: string, content: Buffer): Promise<void> {
      // Each box counts its processes anew: of two that write a file at once both would have the same number.
      const unique = randomBytes(6).toString("hex")
      await script(asker, writeScript, boxPath(path), { words: [unique], stdin: content })
    },
    /** Lines of kind, size and path, sorted by path. */
    async list(asker: FileAsker, path: string, depth: number): Promise<{ lines: string[]; isCut: boolean }> {
      const words = [String(depth), String(maxListed + 1)]
      const output = await script(asker, listScript, boxPath(path), { words, max: 512 * 1024 })
      const entries = output.toString("utf8").split("\n").filter(Boolean)
      return { lines: entries.slice(0, maxListed).map(describeEntry).toSorted(), isCut: entries.length > maxListed }
    },
  }
}

export type Files = ReturnType<typeof createFiles>

function check({ end }: RunResult, path: string): void {
  if (end.kind === "ended" && end.code === 0) return
  const known = end.kind === "ended" ? meanings[end.code] : undefined
  if (known) throw known(path)
  throw new AppError("tool-failed", `${path} could not be worked on in the sandbox (${JSON.stringify(end)})`)
}

function describeEntry(line: string): string {
  const [kind = "", size = "", ...path] = line.split(" ")
  const name = path.join(" ")
  if (kind === "d") return `${name}/`
  return kind === "l" ? `${name} (link)` : `${name} ${size}`
}
