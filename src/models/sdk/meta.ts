// What providers want back beside the parts of their replies: picked out of the packages' metadata by name, so that
// nothing bulky or useless is journaled.
import type { SharedV4ProviderMetadata, SharedV4ProviderOptions } from "@ai-sdk/provider"
import { isJsonObject, type JsonObject } from "../../kernel/index.ts"

export interface MetaRules {
  /** Name under which the package reads and writes its provider's own words. */
  key: string
  /** The fields that must go back, by the kind of the part. */
  text: readonly string[]
  reasoning: readonly string[]
  /** Those that a block's beginning may already tell; unset: the same. */
  reasoningStart?: readonly string[]
  call: readonly string[]
}

/** Undefined when none of the fields is there. */
export function pickMeta(
  metadata: SharedV4ProviderMetadata | undefined,
  key: string,
  fields: readonly string[],
): JsonObject | undefined {
  const own = metadata?.[key]
  if (!isJsonObject(own)) return undefined
  const picked: JsonObject = {}
  for (const field of fields) {
    const value = own[field]
    if (value !== undefined && value !== null) picked[field] = value
  }
  return Object.keys(picked).length === 0 ? undefined : picked
}

/** The way back: as it was picked. */
export function toProviderOptions(
  meta: JsonObject | undefined,
  key: string,
): { providerOptions?: SharedV4ProviderOptions } {
  return meta === undefined ? {} : { providerOptions: { [key]: meta } }
}
