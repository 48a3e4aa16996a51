// The turns of a session that are not over, for a button that stops them.
import { turnJobKind } from "../../agent/turn-input.ts"
import type { Store } from "../../store/index.ts"

export function openTurns({ handle }: Store, sessionKey: string): string[] {
  const rows = handle
    .prepare(
      `select run_id as run from job where lane_key = ? and state in ('ready', 'running') and kind = ?
         and taken_by is null order by id`,
    )
    .all(sessionKey, turnJobKind) as { run: string }[]
  return rows.map(({ run }) => run)
}
