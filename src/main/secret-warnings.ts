// Secrets of the configuration that are weak, though nobody but this machine can try them: said at every start and by
// `svc config validate`. Where other machines can, the schema refuses them.
import type { Config, ConfigPath } from "../config/index.ts"
import { secretWeakness } from "../kernel/index.ts"
import type { ModelWarning } from "./models/warnings.ts"

/** Chosen by both sides and never sent: shorter ones are still hard to find from a signature, blank ones are not. */
const leastSigningCharacters = 16

export function findSecretWarnings(config: Config): ModelWarning[] {
  const { hooks, gateway } = config
  const sent: [ConfigPath, string | undefined][] = [
    [["gateway", "auth", "token"], gateway.auth.token],
    ...(hooks.enabled ? ([[["hooks", "token"], hooks.token]] as [ConfigPath, string | undefined][]) : []),
    [["hooks", "gmail", "pushToken"], hooks.gmail?.pushToken],
  ]
  const signing = hooks.mappings.flatMap(({ verify, callbackSecret }, index): [ConfigPath, string | undefined][] => [
    // A list while a secret is being exchanged; of keys that are public none is secret.
    ...(verify?.scheme === "sendgrid" ? [] : [verify?.secret ?? []].flat()).map((secret): [ConfigPath, string] => [
      ["hooks", "mappings", index, "verify", "secret"],
      secret,
    ]),
    [["hooks", "mappings", index, "callbackSecret"], callbackSecret],
  ])
  return [
    ...sent.flatMap(([path, secret]) => warning(path, secret === undefined ? undefined : secretWeakness(secret))),
    ...signing.flatMap(([path, secret]) => warning(path, secret === undefined ? undefined : signingWeakness(secret))),
  ]
}

function signingWeakness(secret: string): string | undefined {
  if (secret.trim().length >= leastSigningCharacters) return undefined
  return `is shorter than ${leastSigningCharacters} characters`
}

function warning(path: ConfigPath, weakness: string | undefined): ModelWarning[] {
  if (weakness === undefined) return []
  return [{ path, message: `the secret ${weakness}. Make one with: openssl rand -hex 24` }]
}
