// A draft's stop button -> the turn that writes the draft. The draft's id is the id of the message that is answered, so
// the turn is found in the store, whatever was restarted since.
import type { Store } from "../../../store/index.ts"
import { turnJobKind } from "../../../agent/turn-input.ts"
import { channelName } from "../settings.ts"

export interface DraftKey {
  account: string
  chatId: string
  draftId: number
}

export interface OpenTurn {
  runId: string
  laneKey: string
}

/** The turn that answers the message, when it has not ended yet. */
export function turnOfDraft(store: Store, { account, chatId, draftId }: DraftKey): OpenTurn | undefined {
  const row = store.handle
    .prepare(
      // Of all jobs there ever were only the open ones, which that index holds.
      `select run_id as runId, lane_key as laneKey from job indexed by job_lane where state in ('ready', 'running') and kind = ?
         and payload ->> '$.route.channel' = ? and payload ->> '$.route.account' = ?
         and payload ->> '$.route.chatId' = ? and payload ->> '$.route.messageId' = ? order by id limit 1`,
    )
    .get(turnJobKind, channelName, account, chatId, String(draftId)) as OpenTurn | undefined
  return row
}
