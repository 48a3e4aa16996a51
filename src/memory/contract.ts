// Wire types of notes. No runtime.

export interface NoteSummary {
  /** `MEMORY.md` or `notes/<name>.md`. */
  name: string
  bytes: number
  modifiedAt: number
  /** Headings of its sections. */
  sections: string[]
}

export interface Note {
  name: string
  text: string
  /** Changes whenever the file does; null: there is no such note. */
  version: string | null
}

export interface NoteHit {
  name: string
  heading: string
  /** The section, or its part around the words that were looked for. */
  text: string
}

/** One thing to remember. */
export interface NoteEntry {
  name: string
  /** Heading of the section that it goes into; unset: the end of the file. */
  section?: string | undefined
  text: string
  /** `replace` takes the place of all that the section says. */
  mode: "append" | "replace"
}

export interface WrittenNote {
  name: string
  /** `same`: it stood there already. */
  change: "written" | "same"
  version: string
  characters: number
}
