// What is done for an update after it is on the disk: at once, in the background, and of no consequence when it fails.
import type { Background } from "../../kernel/index.ts"
import type { Client } from "./client.ts"
import type { Effect } from "./inbound/planned.ts"

/** The platform forgets a click after 150 s; whoever clicked stops looking long before. */
const timeoutMs = 10_000

export function performEffect(effect: Effect, parts: { client: Client; background: Background }): void {
  const { client, background } = parts
  switch (effect.kind) {
    case "answer-click":
      background.run("answer a click", async () => {
        await client.call("answerCallbackQuery", { callback_query_id: effect.queryId }, { timeoutMs })
      })
  }
}
