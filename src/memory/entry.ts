// One thing to remember, as somebody gives it -> what can be written.
import { AppError } from "../kernel/index.ts"
import type { NoteEntry } from "./contract.ts"
import { noteName } from "./names.ts"

const maxHeading = 120

/** Throws `bad-request` for what says nothing, or would leave it open what is replaced. */
export function readEntry(given: NoteEntry): NoteEntry {
  const text = given.text.trim()
  const section = (given.section ?? "").replace(/\s+/g, " ").trim().slice(0, maxHeading)
  const { mode } = given
  if (mode === "replace" && section === "") {
    throw new AppError("bad-request", "replace needs the section whose text is replaced")
  }
  if (text === "" && mode === "append") throw new AppError("bad-request", "text is empty")
  return { name: noteName(given.name), text, mode, ...(section === "" ? {} : { section }) }
}
