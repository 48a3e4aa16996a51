// What is worked out once for each configuration: the token, its scope, the compiled mappings.
import { type Log, type Redactor, Secret } from "../kernel/index.ts"
import type { HooksConfig } from "./config.ts"
import { type Mappings, type MappingsView, compileMappings, fingerprint } from "./mapping/compile.ts"

export type HooksView = Pick<HooksConfig, "enabled" | "token" | "path" | "maxBodyBytes"> & MappingsView

export interface Settings {
  view: HooksView
  base: string
  token: Secret
  /** Deliveries of one secret never meet those of another. */
  tokenScope: string
  mappings: Mappings
}

const shortTokenCharacters = 24

export function prepareSettings(view: HooksView, token: string, options: { log: Log; redactor: Redactor }): Settings {
  const plain = token.trim()
  options.redactor.add(plain)
  if (plain.length < shortTokenCharacters) {
    const hint = `use at least ${shortTokenCharacters} random characters`
    options.log.warn({ key: "hooks.token", hint }, "hook token short")
  }
  return {
    view,
    base: view.path,
    token: new Secret(plain),
    tokenScope: fingerprint(plain),
    mappings: compileMappings(view, options.log),
  }
}
