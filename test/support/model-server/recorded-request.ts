// A request that the model server has got.
import type { JsonObject } from "../../../src/kernel/index.ts"
import type { ProviderName, Refusal } from "../provider-rules/index.ts"

export interface RecordedRequest {
  /** 1 for the first request of the server. */
  n: number
  method: string
  path: string
  headers: Readonly<Record<string, string>>
  body: JsonObject
  /** Monotonic milliseconds at which the body had arrived. */
  at: number
  /** Whose rules it was held to; undefined: the common ones of its interface. */
  provider: ProviderName | undefined
  /** Why it was refused; such a request takes no reply off the script. */
  refusal?: Refusal
  /** All words of the prompt: system, messages and tool results, joined by line ends. */
  promptText(): string
  /** `sent` when the answer went out whole, `closed` when the client went away first. */
  ended: Promise<"sent" | "closed">
}
