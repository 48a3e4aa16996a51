// The secret that the platform sends along with every update: the configured one, else one that is made once and kept
// in the store, whose file only its owner can read. There is no webhook without one.
import { type Ids, type Redactor, Secret } from "../../../kernel/index.ts"
import type { Store } from "../../../store/index.ts"
import { channelName } from "../settings.ts"

const secretBytes = 32

export async function webhookSecret(options: {
  configured: string | undefined
  accountId: string
  store: Store
  ids: Ids
  redactor: Redactor
}): Promise<Secret> {
  const value = options.configured ?? (await readOrMake(options))
  options.redactor.add(value)
  return new Secret(value)
}

async function readOrMake({ accountId, store, ids }: { accountId: string; store: Store; ids: Ids }): Promise<string> {
  const key = `${channelName}.webhookSecret.${accountId}`
  const kept = await store.meta.get(key)
  if (typeof kept === "string") return kept
  const made = ids.token(secretBytes)
  await store.meta.set(key, made)
  return made
}
