// A summary in a transcript: an entry of its own that stands for all before it. What it stands for stays where it is, and
// is found by search and export; the model is shown the summary instead.
import type { ModelMessage } from "../models/contract.ts"
import type { Store, Write } from "../store/index.ts"
import type { Origin } from "./route.ts"
import { type TranscriptEntry, estimateTokens } from "./transcript.ts"

export interface Summary extends TranscriptEntry {
  id: number
  tokens: number
  /** The newest message that it stands for. */
  coversTo: number
}

/** The newest one of a conversation; `known` itself where it still is that one. */
export function latestSummary(store: Store, sessionId: string, known?: Summary): Summary | undefined {
  const row = store.handle
    .prepare(
      `select id, message, tokens, origin, trusted, covers_to from message
       where session_id = ? and covers_to is not null order by id desc limit 1`,
    )
    .get(sessionId)
  if (!row || row["id"] === known?.id) return row && known
  return {
    id: Number(row["id"]),
    tokens: Number(row["tokens"]),
    coversTo: Number(row["covers_to"]),
    message: JSON.parse(String(row["message"])) as ModelMessage,
    origin: String(row["origin"]) as Origin,
    trusted: row["trusted"] === 1,
  }
}

export function keepSummary(
  write: Write,
  { sessionId }: { sessionId: string },
  jobId: number,
  { message, origin, trusted, coversTo }: TranscriptEntry & { coversTo: number },
): void {
  write
    .prepare(
      `insert into message (session_id, job_id, message, tokens, created_at, origin, trusted, covers_to)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    .run(
      sessionId,
      jobId,
      JSON.stringify(message),
      estimateTokens(message),
      write.now,
      origin,
      trusted ? 1 : 0,
      coversTo,
    )
}

/** Messages that no summary stands for yet, oldest first, a page at a time. */
export function* uncovered(
  store: Store,
  sessionId: string,
): Generator<TranscriptEntry & { id: number; tokens: number }> {
  const page = 200
  let after = latestSummary(store, sessionId)?.coversTo ?? 0
  for (;;) {
    const rows = store.handle
      .prepare(
        `select id, message, tokens, origin, trusted from message
         where session_id = ? and id > ? and covers_to is null order by id limit ?`,
      )
      .all(sessionId, after, page) as { id: number; message: string; tokens: number; origin: string; trusted: number }[]
    for (const { id, message, tokens, origin, trusted } of rows) {
      after = id
      yield {
        id,
        tokens,
        message: JSON.parse(message) as ModelMessage,
        origin: origin as Origin,
        trusted: trusted === 1,
      }
    }
    if (rows.length < page) return
  }
}
