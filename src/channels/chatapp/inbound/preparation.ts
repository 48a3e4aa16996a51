// What the channel adds to a turn before its prompt is made: joined parts become one text, in the order they came.
import type { TurnInput, TurnPreparation } from "../../../agent/turn-input.ts"

export function createPreparation(): TurnPreparation {
  return {
    merge: mergeInputs,
    fetch: async (input) => input,
    complete: (_write, input) => input,
  }
}

/** The last part is the one that a reply refers to; the least trusted one decides for all. */
export function mergeInputs(inputs: readonly TurnInput[]): TurnInput {
  const last = inputs.at(-1) as TurnInput
  const first = inputs[0] as TurnInput
  const media = inputs.flatMap((input) => input.media ?? [])
  const context = inputs.flatMap((input) => input.context ?? [])
  return {
    ...first,
    route: last.route,
    trusted: inputs.every((input) => input.trusted),
    // A paste was cut at some character: nothing belongs between its parts.
    text: inputs.map((input) => input.text).join(first.join?.kind === "paste" ? "" : "\n"),
    ...(media.length === 0 ? {} : { media }),
    ...(context.length === 0 ? {} : { context }),
  }
}
