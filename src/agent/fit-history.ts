// A conversation that turns out longer than the model takes is shortened from its oldest end and asked again. Our
// estimate of tokens is rough, and some models refuse earlier than they say.
import type { Log } from "../kernel/index.ts"
import type { ModelMessage, ModelReply, ModelRequest } from "../models/contract.ts"
import { isContextTooLong } from "../models/index.ts"

/** Each try halves what is shown of the past: four leave a sixteenth, and the last one nothing. */
const maxTries = 5

/**
 * Asks with less and less of the past. The first `historyLength` messages of a request are the past; what follows is
 * the turn itself and stays. What has been left out stays out for the rest of the turn.
 */
export function fitHistory(
  complete: (request: ModelRequest) => Promise<ModelReply>,
  historyLength: number,
  log: Log,
): (request: ModelRequest) => Promise<ModelReply> {
  let leftOut = 0
  return async (request) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await complete({ ...request, messages: request.messages.slice(leftOut) })
      } catch (error) {
        if (!isContextTooLong(error) || leftOut >= historyLength || tries > maxTries) throw error
        leftOut = tries === maxTries ? historyLength : nextCut(request.messages, leftOut, historyLength)
        log.warn(
          { messages: historyLength - leftOut },
          "conversation too long for the model, asked again with less of it",
        )
      }
    }
  }
}

/** Half of what is left, cut in front of a user's message: an answer without its question is refused by providers. */
function nextCut(messages: readonly ModelMessage[], leftOut: number, historyLength: number): number {
  for (let index = leftOut + Math.ceil((historyLength - leftOut) / 2); index < historyLength; index += 1) {
    if (messages[index]?.role === "user") return index
  }
  return historyLength
}
