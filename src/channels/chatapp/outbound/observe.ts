// What people see of a turn while it runs: typing, and the draft of its answer. Decoration: it never delays a turn.
import type { TurnInput, TurnObserver, TurnView } from "../../../agent/turn-input.ts"
import type { Background, Clock } from "../../../kernel/index.ts"
import type { Account } from "../account.ts"
import { type Settings, channelName } from "../settings.ts"
import { startDraft, wantsDraft } from "./draft.ts"
import { startTyping } from "./typing.ts"

export interface ObserveParts {
  accounts: () => ReadonlyMap<string, Account>
  settings: Settings
  clock: Clock
  background: Background
}

export function observeTurn({ route }: TurnInput, view: TurnView, parts: ObserveParts): TurnObserver {
  const account = route?.channel === channelName ? parts.accounts().get(route.account) : undefined
  if (!route || !account) return { end: () => undefined }
  const { clock, background } = parts
  const { budget, drafts: calls } = account
  const client = () => account.client
  const typing = startTyping({ client, route, budget, clock, background })
  const settings = parts.settings.account(route.account)
  if (!wantsDraft(route, settings, account.hasTopics)) return typing
  const draft = startDraft({ client, route, view, settings, calls, budget, clock, background })
  return {
    onStep: draft.onStep,
    onDelta: draft.onDelta,
    end() {
      typing.end()
      draft.end()
    },
  }
}
