// The files of notes in one workspace. They are the owner's: an editor may change them at any time, so a write looks again
// right before it takes effect, and nothing leads out of the folder, neither a name nor a link.
import { lstatSync, readdirSync, realpathSync, statSync, type Stats } from "node:fs"
import { join, sep } from "node:path"
import { AppError, readInside, writeDurableFile } from "../kernel/index.ts"
import { isNoteFile, mainNote, noteName, notesFolder } from "./names.ts"

export interface NoteFile {
  name: string
  /** Changes whenever the file does; as `readInside` says it. */
  version: string
  bytes: number
  modifiedAt: number
}

/** Beyond that nobody has written it by hand. */
export const maxNoteBytes = 1024 * 1024
/** More are left out, the last by name. */
const maxNotes = 1_000

/** In the order of their names, MEMORY.md first. */
export function listNotes(folder: string): NoteFile[] {
  const files = namesIn(join(folder, notesFolder)).filter(isNoteFile).toSorted().slice(0, maxNotes)
  return [mainNote, ...files.map((file) => `${notesFolder}/${file}`)].flatMap((name) => {
    const info = infoOf(join(folder, name))
    if (!info?.isFile() || info.size > maxNoteBytes) return []
    return [{ name, version: versionOf(info), bytes: info.size, modifiedAt: Math.round(info.mtimeMs) }]
  })
}

/** Undefined where there is none. Throws `forbidden` for what is no file of this folder. */
export function readNote(folder: string, name: string): { text: string; version: string } | undefined {
  const file = orNothing(() => readInside(folder, name, maxNoteBytes)) ?? { kind: "none" }
  if (file.kind === "none") return undefined
  if (file.kind === "refused") throw new AppError("forbidden", `${name} is not read: it ${file.reason}`)
  return { text: file.data.toString("utf8"), version: file.version }
}

/**
 * Writes the whole note. `expected` is the version that it was made from, null for a note that was not there.
 * Throws `conflict` when it is another by now.
 */
export async function writeNote(folder: string, name: string, text: string, expected: string | null): Promise<string> {
  const path = join(folder, name)
  mayWrite(folder, path, name)
  await writeDurableFile(path, text, {
    name() {
      const info = infoOf(path)
      if ((info ? versionOf(info) : null) === expected) return path
      throw new AppError("conflict", `${name} was changed meanwhile`, { hint: "Read it again, then write" })
    },
  })
  const written = infoOf(path)
  if (!written) throw new AppError("conflict", `${name} was removed as it was written`)
  return versionOf(written)
}

/** The note as its file is called: names of files know upper and lower case, people do not. */
export function nameThere(folder: string, name: string): string {
  if (name === mainNote) return name
  const wanted = name.toLowerCase()
  const found = namesIn(join(folder, notesFolder)).find(
    (file) => isNoteFile(file) && noteName(file).toLowerCase() === wanted,
  )
  return found === undefined ? name : `${notesFolder}/${found}`
}

function mayWrite(folder: string, path: string, name: string): void {
  const file = lstatOf(path)
  if (file && !file.isFile()) {
    const what = file.isSymbolicLink() ? "a link" : "no file"
    throw new AppError("forbidden", `${name} is not written: it is ${what}`)
  }
  const notes = lstatOf(join(folder, notesFolder))
  const isBelow = notes === undefined || isInside(folder, join(folder, notesFolder))
  if (name !== mainNote && !isBelow) {
    throw new AppError("forbidden", `${name} is not written: the folder ${notesFolder} leads out of the workspace`)
  }
}

function isInside(folder: string, path: string): boolean {
  return realpathSync(path).startsWith(realpathSync(folder) + sep)
}

function versionOf({ mtimeMs, size, ino }: Stats): string {
  return `${mtimeMs}:${size}:${ino}`
}

function namesIn(folder: string): string[] {
  return orNothing(() => readdirSync(folder)) ?? []
}

function infoOf(path: string): Stats | undefined {
  return orNothing(() => statSync(path))
}

function lstatOf(path: string): Stats | undefined {
  return orNothing(() => lstatSync(path))
}

function orNothing<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException
    if (code === "EACCES" || code === "EPERM") {
      throw new AppError("forbidden", "A folder or file of the notes may not be read", { cause: error })
    }
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return undefined
    throw error
  }
}
