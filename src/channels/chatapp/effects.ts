// What is done for an update after it is on the disk: at once, in the background, and of no consequence when it fails.
import type { Background, Log } from "../../kernel/index.ts"
import type { Client } from "./client.ts"
import { describeFailure } from "./failure.ts"
import type { Effect } from "./inbound/planned.ts"

/** The platform forgets a click after 150 s; whoever clicked stops looking long before. */
const timeoutMs = 10_000

export interface EffectParts {
  client: Client
  background: Background
  log: Log
  /** Ends the turn that writes this draft. */
  stopTurn: (chatId: string, draftId: number) => Promise<void>
}

export function performEffect(effect: Effect, parts: EffectParts): void {
  const { client, background, log, stopTurn } = parts
  switch (effect.kind) {
    case "answer-click":
      background.run("answer a click", async () => {
        const { queryId, text } = effect
        const answer = { callback_query_id: queryId, ...(text === undefined ? {} : { text }) }
        const result = await client.call("answerCallbackQuery", answer, { timeoutMs })
        if (!result.ok) log.debug({ reason: describeFailure(result.failure) }, "click not answered")
      })
      return
    case "stop-turn":
      background.run("stop a turn", () => stopTurn(effect.chatId, effect.draftId))
  }
}
