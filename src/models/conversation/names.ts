// Names of tools and ids of calls in the form that the target takes. The same id gets the same form in every request of
// a conversation, so that the beginning of a prompt stays what it was.
import { createHash } from "node:crypto"

/** Taken by every provider: OpenAI wants at most 40 characters in Chat Completions (anomalyco/opencode#12653) and 64 in
 * Responses, Anthropic `^[a-zA-Z0-9_-]+$`. */
const safeId = /^[a-zA-Z0-9_-]{1,40}$/
/** Mistral: "Tool call id was ... but must be a-z, A-Z, 0-9, with a length of 9." */
const nineId = /^[a-zA-Z0-9]{9}$/

export type CallIdForm = "any" | "nine"

/** Whether every provider but Mistral takes the id as it is. */
export function isSafeId(id: string): boolean {
  return safeId.test(id)
}

/** `^[a-zA-Z0-9_-]{1,64}$`, which OpenAI, Anthropic and the others demand of the names of tools. */
export function toToolName(name: string): string {
  const plain = name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64)
  return plain === "" ? "unknown_tool" : plain
}

export interface CallIds {
  /**
   * The id that a call is sent with. `isOwn`: the target wrote it itself and wants it back, whatever its form.
   * Each call of the conversation gets one of its own: some servers number their calls from zero in every reply.
   */
  assign(id: string, isOwn: boolean): string
  /** For another conversation that goes on from here. */
  copy(): CallIds
}

export function createCallIds(form: CallIdForm): CallIds {
  return callIdsBehind(form, new Set(), new Map())
}

/** `times`: how often an id has come already. Where all are the same, each is found at once. */
function callIdsBehind(form: CallIdForm, used: Set<string>, times: Map<string, number>): CallIds {
  return {
    copy: () => callIdsBehind(form, new Set(used), new Map(times)),
    assign(id, isOwn) {
      const fits = form === "nine" ? nineId.test(id) : isOwn || safeId.test(id)
      let candidate = fits && id !== "" ? id : digest(id, form)
      for (let n = (times.get(id) ?? 0) + 1; used.has(candidate); n += 1) {
        times.set(id, n)
        candidate = digest(`${id}#${n}`, form)
      }
      used.add(candidate)
      return candidate
    },
  }
}

/** Letters and digits only, so that it fits everywhere. */
function digest(id: string, form: CallIdForm): string {
  const text = createHash("sha256").update(id).digest("hex")
  return form === "nine" ? text.slice(0, 9) : `call_${text.slice(0, 24)}`
}
