// The door of transcripts as people look at them.
export type * from "./contract.ts"
export { findSessionKey } from "./find-key.ts"
export {
  type SessionQuery,
  type TranscriptQuery,
  isOwnersKey,
  listSessions,
  noSession,
  readSession,
  readTranscript,
} from "./read.ts"
export { deleteSession } from "./remove.ts"
export { type ExportFormat, renderHead, renderMessage, textOfMessage } from "./render.ts"
export { type RecallQuery, recallMessages } from "./recall.ts"
export { excerptOf } from "./excerpt.ts"
export { type SearchQuery, searchMessages } from "./search.ts"
