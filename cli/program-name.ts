// What a person types to get this program, where they are: hints that name it must work when they are typed.
import { existsSync, realpathSync } from "node:fs"
import { basename, delimiter, dirname, join, sep } from "node:path"

interface Place {
  environment: NodeJS.ProcessEnv
  /** Real path of this program. */
  programFile: string
  workingFolder: string
}

/** `svc`, `npx svc` in a clone, `npx svc-gateway` from the registry, or the program's path. */
export function programName({ environment, programFile, workingFolder }: Place): string {
  // Straight from the sources, by whoever works on them.
  if (basename(programFile) !== "svc.cjs") return "svc"
  const path = environment["PATH"] ?? ""
  // npm and npx put such folders on the PATH of what they run: the person's own shell does not know them.
  const folders = path.split(delimiter).filter((folder) => folder !== "" && !/node_modules[/\\]\.bin$/.test(folder))
  if (folders.some((folder) => leadsTo(join(folder, "svc"), programFile))) return "svc"
  const clone = dirname(dirname(programFile))
  const isClone = existsSync(join(clone, "scripts", "bootstrap.mjs"))
  const isInside = workingFolder === clone || workingFolder.startsWith(clone + sep)
  // Elsewhere `npx svc` would fetch a stranger's package.
  if (isClone && isInside) return "npx svc"
  if (!isClone && environment["npm_command"] === "exec") return "npx svc-gateway"
  return existsSync(join(clone, "package.json")) ? programFile : "svc"
}

function leadsTo(path: string, programFile: string): boolean {
  try {
    return realpathSync(path) === programFile
  } catch {
    // Not there, or in a folder that may not be read.
    return false
  }
}

/** The same advice with the name that works here; only what names a command is one. */
export function withProgramName(text: string, name: string, isCommand: (word: string) => boolean): string {
  if (name === "svc") return text
  return text.replace(/(?<![\w/.-])(?<!npx )svc (--|<)?([a-z-]+)/g, (whole, mark: string | undefined, word: string) =>
    mark !== undefined || isCommand(word) ? `${name} ${whole.slice("svc ".length)}` : whole,
  )
}
