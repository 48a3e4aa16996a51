// What can be done about the extension from outside: put its files in place, pair it, see how it stands.
import type { CoreOptions } from "../access.ts"
import type { Caller } from "../caller.ts"
import type { ExtensionInstalled, ExtensionPaired, ExtensionStatus } from "../contract.ts"
import { installedFolder, installedVersion, installExtension, shippedVersion } from "./extension-files.ts"

export function extensionOperations({ relay, stateFolder }: CoreOptions) {
  return {
    async extension(_caller?: Caller): Promise<ExtensionStatus> {
      const [installed, shipped] = await Promise.all([installedVersion(stateFolder), shippedVersion()])
      return {
        ...relay.status(),
        path: installed === undefined ? null : installedFolder(stateFolder),
        installedVersion: installed ?? null,
        shippedVersion: shipped ?? null,
      }
    },
    async installExtension(): Promise<ExtensionInstalled> {
      return { ok: true, ...(await installExtension(stateFolder)) }
    },
    async pairExtension(): Promise<ExtensionPaired> {
      return { ok: true, ...(await relay.pair()) }
    },
  }
}
