// What agents remember: notes in files, and what was said.
import { z } from "zod"
import { define, word } from "./endpoint.ts"

const agent = word.optional()
/** `MEMORY.md` or `notes/<name>`. */
const name = z.string().trim().min(1).max(200)
const text = z.string().max(1_000_000)

const noteHit = z.object({ name: z.string(), heading: z.string(), text: z.string() })

const messageHit = z.object({
  id: z.number(),
  key: z.string(),
  agentId: z.string(),
  sessionId: z.string(),
  at: z.number(),
  role: z.enum(["user", "assistant", "tool"]),
  origin: z.string(),
  /** False: it holds words of others, or was said under them. */
  trusted: z.boolean(),
  excerpt: z.string(),
})

const note = z.object({
  agentId: z.string(),
  name: z.string(),
  text: z.string(),
  /** Changes whenever the file does; null: there is no such note yet. */
  version: z.string().nullable(),
})

const written = z.object({
  agentId: z.string(),
  name: z.string(),
  change: z.enum(["written", "same"]),
  version: z.string(),
  characters: z.number(),
})

export const memoryEndpoints = define({
  "GET /api/memory/search": {
    summary: "Finds notes and messages that answer a question, best first",
    query: z.object({
      text: z.string().trim().min(1).max(1_000),
      agent,
      /** One session, by its key or the beginning of it. */
      session: word.optional(),
      scope: z.enum(["all", "notes", "sessions"]).default("all"),
      /** Of each kind. */
      limit: z.coerce.number().int().min(1).max(100).default(20),
    }),
    reply: z.object({ agentId: z.string(), notes: z.array(noteHit), messages: z.array(messageHit) }),
  },
  "GET /api/memory/notes": {
    summary: "Lists the notes of an agent",
    query: z.object({ agent }),
    reply: z.object({
      agentId: z.string(),
      notes: z.array(
        z.object({ name: z.string(), bytes: z.number(), modifiedAt: z.number(), sections: z.array(z.string()) }),
      ),
    }),
  },
  "GET /api/memory/note": {
    summary: "Shows one note; one that is not there yet has no text and no version",
    query: z.object({ agent, name }),
    reply: note,
  },
  "POST /api/memory/note": {
    summary: "Saves a whole note, if it is still the version that was read",
    body: z.strictObject({ agent, name, text, version: z.string().max(200).nullable() }),
    reply: written,
  },
  "POST /api/memory/add": {
    summary: "Writes something into a note as the agent does: at the end of a section, or in place of it",
    body: z.strictObject({
      agent,
      name: name.default("MEMORY.md"),
      section: z.string().trim().min(1).max(120).optional(),
      text: text.trim(),
      mode: z.enum(["append", "replace"]).default("append"),
    }),
    reply: written,
  },
})
