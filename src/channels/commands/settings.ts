// What a command sets for its session: read and written in one transaction, so that nothing set meanwhile is lost.
import type { SessionSettings, Sessions } from "../../sessions/sessions.ts"
import type { Write } from "../../store/index.ts"
import type { CommandCall } from "./contract.ts"

type Changes = { [Key in keyof SessionSettings]?: SessionSettings[Key] | undefined }

/** Undefined takes a setting away. */
export function changeSettings(
  sessions: Sessions,
  write: Write,
  { sessionKey, agentId }: Pick<CommandCall, "sessionKey" | "agentId">,
  changes: Changes,
): void {
  const session = sessions.open(write, sessionKey, agentId)
  const changed = Object.entries({ ...session.settings, ...changes }).filter(([, value]) => value !== undefined)
  sessions.saveSettings(write, session, Object.fromEntries(changed) as SessionSettings)
}
