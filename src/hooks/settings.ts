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

export function prepareSettings(view: HooksView, token: string, options: { log: Log; redactor: Redactor }): Settings {
  const plain = token.trim()
  options.redactor.add(plain)
  return {
    view,
    base: view.path,
    token: new Secret(plain),
    tokenScope: fingerprint(plain),
    mappings: compileMappings(view, options.log),
  }
}
