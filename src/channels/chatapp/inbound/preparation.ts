// What the channel adds to a turn before its prompt is made: joined parts become one text, in the order they came; files
// are fetched, and what a group said meanwhile stands in front.
import type { TurnInput, TurnPreparation } from "../../../agent/turn-input.ts"
import type { Write } from "../../../store/index.ts"
import type { AccountSettings } from "../settings.ts"
import { elapsedText } from "./envelope.ts"
import { showHistory } from "./history.ts"
import { mergeInputs } from "../../shared/merge.ts"

export interface PreparationOptions {
  /** Brings the files that came with the words. */
  fetchFiles: TurnPreparation["fetch"]
  settings: (account: string) => AccountSettings
}

export function createPreparation({ fetchFiles, settings }: PreparationOptions): TurnPreparation {
  return {
    merge: mergeInputs,
    fetch: async (input, signal) => withForeignFiles(input, await fetchFiles(input, signal)),
    // What the group said meanwhile stands in front of the words.
    complete: (write, input) => showHistory(write, withElapsed(write, input, settings), settings),
  }
}

/**
 * What fetching adds to the context is text of files: words that the sender has passed on and not said. They stand in a
 * boundary, and take the turn's authority as a forwarded message does.
 */
function withForeignFiles(before: TurnInput, fetched: TurnInput): TurnInput {
  const isQuoting = (fetched.context?.length ?? 0) > (before.context?.length ?? 0)
  return isQuoting && fetched.trusted ? { ...fetched, trusted: false, wrap: false } : fetched
}

/** How long the conversation rested before this message: what the model needs to tell a new topic from an old one. */
function withElapsed(write: Write, input: TurnInput, settings: PreparationOptions["settings"]): TurnInput {
  const { header, route, sentAt } = input
  if (header === undefined || sentAt === undefined || !route || !settings(route.account).envelope.showsElapsed)
    return input
  const row = write.prepare("select updated_at, created_at from session where key = ?").get(input.sessionKey)
  const [updated, created] = [Number(row?.["updated_at"]), Number(row?.["created_at"])]
  // A session that nobody has spoken in has no message before this one.
  const elapsed = updated > created ? elapsedText(sentAt - updated) : undefined
  return elapsed === undefined
    ? input
    : { ...input, header: header.replace("]", `, ${elapsed} since the last message]`) }
}
