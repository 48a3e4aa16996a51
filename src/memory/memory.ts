// What an agent remembers: notes in files (write -> file -> index) and its conversations (in the index with each message).
// Files belong to the owner and change without us: before each look, what differs from the index is taken in, every file
// in one transaction with all of its sections.
import { AppError, type Log } from "../kernel/index.ts"
import { type SearchHit, recallMessages } from "../sessions/index.ts"
import { type Store, isStorageFailure } from "../store/index.ts"
import type { MemoryConfig } from "./config.ts"
import type { Note, NoteEntry, NoteHit, NoteSummary, WrittenNote } from "./contract.ts"
import { readEntry } from "./entry.ts"
import { type NoteFile, listNotes, maxNoteBytes, nameThere, readNote, writeNote } from "./files.ts"
import { noteName } from "./names.ts"
import { changeNote, sectionsOf } from "./sections.ts"
import { findSections, forgetNote, headingsOf, indexNote, indexedVersions } from "./store.ts"

export interface MemoryOptions {
  store: Store
  config: () => MemoryConfig
  workspace: (agentId: string) => string
  log: Log
}

export interface MemoryQuestion {
  agentId: string
  question: string
  limit: number
  notes: boolean
  /** `none`, one session by its key, or all of the agent's. */
  sessions: "none" | "all" | { key: string }
  /** Characters of a message that are shown. */
  excerpt: number
}

export interface Recalled {
  notes: NoteHit[]
  messages: SearchHit[]
}

export interface Memory {
  search(question: MemoryQuestion): Promise<Recalled>
  list(agentId: string): Promise<NoteSummary[]>
  /** The note by the name that somebody gives it. */
  read(agentId: string, name: string): Note
  /** Throws `payload-too-large`, `forbidden`, `bad-request`. */
  write(agentId: string, entry: NoteEntry): Promise<WrittenNote>
  /** The whole note; `version` as it was read. Throws `conflict` when it is another by now. */
  save(agentId: string, note: { name: string; text: string; version: string | null }): Promise<WrittenNote>
}

/** The tool whose results are no memories themselves. */
export const searchToolName = "memory_search"
/** Files taken in by one transaction: some milliseconds. */
const stretch = 20
/** Writers of one file wait for each other here; an editor beside us is met again. */
const maxTries = 3

export function createMemory(options: MemoryOptions): Memory {
  const { store, workspace } = options
  const follow = createFollower(options)
  const lastWrite = new Map<string, Promise<unknown>>()
  /** One writer of a folder's notes at a time: agents share one where none of them has its own. */
  const inTurn = async <T>(agentId: string, work: () => Promise<T>): Promise<T> => {
    const folder = workspace(agentId)
    const before = lastWrite.get(folder) ?? Promise.resolve()
    const done = before.then(work, work)
    lastWrite.set(folder, done)
    try {
      return await done
    } finally {
      if (lastWrite.get(folder) === done) lastWrite.delete(folder)
    }
  }
  const put = async (agentId: string, name: string, text: string, before: Note): Promise<WrittenNote> => {
    const characters = text.length
    if (before.version !== null && before.text === text)
      return { name, change: "same", version: before.version, characters }
    const version = await writeNote(workspace(agentId), name, text, before.version)
    try {
      await follow(agentId)
    } catch (error) {
      // The note is on the disk. The index takes it in at the next look.
      if (!isStorageFailure(error)) throw error
      options.log.warn({ note: name, err: error }, "note written, not yet searchable")
    }
    return { name, change: "written", version, characters }
  }
  const read = (agentId: string, given: string): Note => {
    const name = nameThere(workspace(agentId), noteName(given))
    const note = readNote(workspace(agentId), name)
    return note ? { name, ...note } : { name, text: "", version: null }
  }
  return {
    async search({ agentId, question, limit, notes, sessions, excerpt }) {
      if (notes) await follow(agentId)
      const found = notes ? findSections(store, agentId, question, limit) : []
      if (sessions === "none") return { notes: found, messages: [] }
      const key = sessions === "all" ? undefined : sessions.key
      const place = { agent: agentId, key, excerpt, exceptTool: searchToolName }
      return { notes: found, messages: recallMessages(store, { question, limit, ...place }) }
    },
    async list(agentId) {
      await follow(agentId)
      const headings = headingsOf(store, agentId)
      return listNotes(workspace(agentId)).map(({ name, bytes, modifiedAt }) => ({
        name,
        bytes,
        modifiedAt,
        sections: headings.get(name) ?? [],
      }))
    },
    read,
    write: (agentId, given) =>
      inTurn(agentId, async () => {
        const entry = readEntry(given)
        for (let tries = 1; ; tries += 1) {
          const before = read(agentId, entry.name)
          const text = changeNote(before.text, entry)
          holdSize(options, before.name, text)
          try {
            return await put(agentId, before.name, text, before)
          } catch (error) {
            if (!(error instanceof AppError) || error.code !== "conflict" || tries >= maxTries) throw error
          }
        }
      }),
    save: (agentId, { name, text, version }) =>
      inTurn(agentId, async () => {
        const before = read(agentId, name)
        // The answer to a save may be lost: what is there already is saved.
        const isThere = before.version !== null && before.text === text
        if (before.version !== version && !isThere) {
          const hint = version === null ? "Read it first" : "Read it again, then save"
          throw new AppError("conflict", `${before.name} is another by now`, { hint })
        }
        // Beyond that it would neither be listed nor found, nor read again to be made shorter.
        holdBytes(before.name, text, maxNoteBytes)
        return await put(agentId, before.name, text, before)
      }),
  }
}

function holdSize({ config }: MemoryOptions, name: string, text: string): void {
  holdBytes(name, text, config().maxFileKb * 1024)
}

function holdBytes(name: string, text: string, most: number): void {
  if (Buffer.byteLength(text) <= most) return
  throw new AppError("payload-too-large", `${name} would be larger than ${most / 1024} KB`, {
    hint: "Replace a section by something shorter, or use another note",
  })
}

/** Takes in what has changed since the last look. Looks of one agent follow each other. */
function createFollower({ store, workspace, log }: MemoryOptions): (agentId: string) => Promise<void> {
  const running = new Map<string, Promise<void>>()
  const look = async (agentId: string): Promise<void> => {
    const folder = workspace(agentId)
    const known = indexedVersions(store, agentId)
    const files = listNotes(folder)
    const there = new Set(files.map(({ name }) => name))
    const gone = [...known.keys()].filter((name) => !there.has(name))
    const changed = files.filter(({ name, version }) => known.get(name) !== version)
    if (gone.length > 0) await store.write(async (write) => gone.forEach((name) => forgetNote(write, agentId, name)))
    for (let from = 0; from < changed.length; from += stretch) {
      const read = changed.slice(from, from + stretch).map((file) => ({ file, ...contentOf(folder, file, log) }))
      await store.write(async (write) => {
        for (const { file, text, version } of read) indexNote(write, agentId, { ...file, version }, sectionsOf(text))
      })
    }
  }
  return async (agentId) => {
    // What changed while a look was under way is seen by the next one.
    const before = running.get(agentId) ?? Promise.resolve()
    const done = before.catch(() => undefined).then(() => look(agentId))
    running.set(agentId, done)
    try {
      await done
    } finally {
      if (running.get(agentId) === done) running.delete(agentId)
    }
  }
}

/** A file that is not to be read is known by its version, without a word of it. */
function contentOf(folder: string, file: NoteFile, log: Log): { text: string; version: string } {
  try {
    return readNote(folder, file.name) ?? { text: "", version: "" }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    log.warn({ folder, note: file.name, reason: error.message }, "note is not read")
    return { text: "", version: file.version }
  }
}
