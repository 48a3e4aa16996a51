// What people see of a turn while it runs: typing, and the draft of its answer. Decoration: it never delays a turn.
import type { TurnInput, TurnObserver, TurnView } from "../../../agent/turn-input.ts"
import type { Config } from "../../../config/index.ts"
import type { Background, Clock, Log } from "../../../kernel/index.ts"
import type { Account } from "../account.ts"
import type { Accounts } from "../accounts.ts"
import { type AccountSettings, type Settings, channelName } from "../settings.ts"
import { ackOf, showAck } from "./ack.ts"
import { type DraftCalls, startDraft, wantsDraft } from "./draft.ts"
import { startTyping } from "./typing.ts"

export interface ObserveParts {
  config: () => Config
  /** Reactions on their way, by chat. */
  acks: DraftCalls
  log: Log
  accounts: Accounts
  settings: Settings
  clock: Clock
  background: Background
}

export function observeTurn(input: TurnInput, view: TurnView, parts: ObserveParts): TurnObserver {
  const { route } = input
  const account = route?.channel === channelName ? parts.accounts.get(route.account) : undefined
  if (!route || !account) return { end: () => undefined }
  const { clock, background } = parts
  const { budget, drafts: calls } = account
  const client = () => account.client
  const everyMs = parts.config().session.typingIntervalSeconds * 1_000
  const onDropped = () => account.noteDropped()
  const typing = startTyping({ client, route, budget, everyMs, clock, background, onDropped })
  const settings = parts.settings.account(route.account)
  acknowledge(input, account, settings, parts)
  if (!wantsDraft(route, settings, account.hasTopics)) return typing
  const draft = startDraft({ client, route, view, settings, calls, budget, clock, background, onDropped })
  return {
    onStep: draft.onStep,
    onDelta: draft.onDelta,
    onRestart: draft.onRestart,
    end() {
      typing.end()
      draft.end()
    },
  }
}

function acknowledge(input: TurnInput, account: Account, settings: AccountSettings, parts: ObserveParts): void {
  const ack = ackOf(parts.config(), settings, input)
  if (!ack) return
  const { acks: calls, background } = parts
  const log = parts.log.child({ part: channelName, account: account.id })
  const { emoji, wanted } = ack
  if (emoji !== wanted.replaceAll("\ufe0f", "")) {
    log.info(
      { chat: ack.route.chatId, wanted, instead: emoji ?? "none" },
      "the platform does not take this ack reaction",
    )
  }
  if (emoji !== undefined && account.client) {
    const onDropped = () => account.noteDropped()
    const { client, budget, stopping: signal } = account
    showAck({ ...ack, emoji }, { client, calls, budget, background, log, onDropped, signal })
  }
}
