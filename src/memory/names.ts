// Names of notes: MEMORY.md, and files right below notes/. There is no name that leads anywhere else.
import { AppError } from "../kernel/index.ts"

export const mainNote = "MEMORY.md"
export const notesFolder = "notes"

const plainName = /^[\p{L}\p{N}][\p{L}\p{N}\p{M} ._-]{0,79}$/u

/** What somebody calls a note -> its name. Throws `bad-request`. */
export function noteName(given: string): string {
  const text = given.normalize("NFC").trim()
  if (text === "" || /^memory(\.md)?$/i.test(text)) return mainNote
  const name = text.replace(/^notes\//i, "").replace(/\.md$/i, "")
  if (plainName.test(name) && !name.includes("..")) return `${notesFolder}/${name}.md`
  throw new AppError("bad-request", `${JSON.stringify(given.slice(0, 100))} is no name of a note`, {
    hint: "Use MEMORY.md, or letters, digits, spaces and . _ - such as notes/travel",
  })
}

/** Whether a file in `notes/` is a note; temporary files of editors and of ours begin with a dot. */
export function isNoteFile(file: string): boolean {
  return file.endsWith(".md") && plainName.test(file.slice(0, -".md".length).normalize("NFC")) && !file.includes("..")
}
