// The table of the checker's own tests: for each rule a request that is refused, with the words, and one just inside.
import type { JsonObject } from "../../../../src/kernel/index.ts"
import type { ProviderName } from "../contract.ts"
import type { IssuedReply } from "../issued.ts"

export interface RuleCase {
  rule: string
  /** Unset: the common rules of the interface. */
  provider?: ProviderName
  path: string
  refused: JsonObject
  /** Part of the body of the refusal, as it stands there as JSON. */
  words: string
  /** 400 when unset. */
  status?: number
  taken: JsonObject
  /** What the provider had issued before. */
  issued?: IssuedReply[]
}

type Row = Omit<RuleCase, "path" | "provider" | "words"> & { words: string; path?: string }

/** Rows of one provider on one path; `base` is laid under each body. */
export function table(
  head: { provider?: ProviderName; path: string; base?: JsonObject },
  rows: readonly Row[],
): RuleCase[] {
  return rows.map((row) => ({
    ...row,
    ...(head.provider === undefined ? {} : { provider: head.provider }),
    path: row.path ?? head.path,
    refused: { ...head.base, ...row.refused },
    taken: { ...head.base, ...row.taken },
  }))
}

export const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
export const bmp = "Qk1GAAAAAAAAADYAAAAoAAAAAgAAAAIAAAABABgAAAAAABAAAADEDgAA"

export const wordSchema: JsonObject = {
  type: "object",
  properties: { word: { type: "string" } },
  required: ["word"],
}

export const repeated = <Item>(count: number, make: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => make(index))
