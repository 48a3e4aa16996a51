// What a built-in mapping is made of: data only, in the same templates that a configured mapping has.
import type { HookPresetName, HookVerifyConfig } from "../config.ts"

export interface PresetText {
  message: string
  /** Where events of this kind belong to another conversation than the preset's usual one. */
  sessionKey?: string
}

export interface Preset {
  /** Also the path below `hooks.path`. */
  name: HookPresetName
  /** How this sender signs; written as `verify.scheme`. Undefined for senders that only carry the token. */
  scheme: HookVerifyConfig["scheme"] | undefined
  /** Template of the hook's name. */
  title: string
  sessionKey: string
  /** Template of the event's type; without it `otherwise` is the only text. */
  event?: string
  texts?: Record<string, string | PresetText>
  otherwise: string
  /** Types that ask for nothing: answered 204. */
  ignored?: readonly string[]
  /** Where the sender's id of a delivery is, for deliveries that prove themselves by the token. */
  idFrom?: string
  forEach?: string
}
