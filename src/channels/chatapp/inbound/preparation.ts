// What the channel adds to a turn before its prompt is made: joined parts become one text, in the order they came.
import type { TurnPreparation } from "../../../agent/turn-input.ts"
import { mergeInputs } from "./merge.ts"

export interface PreparationOptions {
  /** What the group said meanwhile, in front of the words. */
  showHistory: TurnPreparation["complete"]
}

export function createPreparation({ showHistory }: PreparationOptions): TurnPreparation {
  return {
    merge: mergeInputs,
    fetch: async (input) => input,
    complete: showHistory,
  }
}
