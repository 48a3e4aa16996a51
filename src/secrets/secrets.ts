// Secrets that pages are filled with and that no model sees: name -> (origin) -> value, for one filling.
//   svc secrets set -> sealed row | reference of a password manager; act fill {secret: name} -> reveal -> the page
import { AppError, type Log, Secret } from "../kernel/index.ts"
import type { Store } from "../store/index.ts"
import type { NewSecret, SecretSource, SecretSummary } from "./contract.ts"
import { openKeyFile } from "./key-file.ts"
import { type ManagerCall, type Variables, askManager, bitwardenCall, onePasswordCall } from "./managers.ts"
import { parseOrigin } from "./origin.ts"
import {
  type SecretRow,
  allSecrets,
  findSecret,
  originsIn,
  putSecret,
  removeSecret,
  setUsed,
  summaryOf,
} from "./rows.ts"
import { seal, unseal } from "./seal.ts"

export interface SecretsOptions {
  store: Store
  stateFolder: string
  /** PATH and the settings of password managers. */
  variables: Variables
  log: Log
  /** Told of every value that was taken, before anybody gets it. */
  onReveal(value: Secret): void
}

export interface Secrets extends SecretSource {
  /** In place of one of the same name. Durable when it resolves. Throws `bad-request`, `secret-unavailable`. */
  set(secret: NewSecret): Promise<SecretSummary>
  list(): SecretSummary[]
  /** Throws `not-found`. */
  remove(name: string): Promise<SecretSummary>
}

const most = { secrets: 500, origins: 10, chars: 4_000 }

export function createSecrets(options: SecretsOptions): Secrets {
  const { store, variables, log } = options
  const keyFile = openKeyFile(options.stateFolder, log)
  const { handle } = store
  return {
    async set(secret) {
      const origins = [...new Set(secret.origins.map(parseOrigin))].toSorted()
      if (origins.length === 0 || origins.length > most.origins)
        throw new AppError("bad-request", `A secret needs 1 to ${most.origins} origins`)
      const bound = { name: secret.name, origins: JSON.stringify(origins), any_field: secret.anyField ? 1 : 0 } as const
      const isStored = secret.value !== undefined
      const others = allSecrets(handle).filter(({ name }) => name !== secret.name)
      if (others.length >= most.secrets) throw new AppError("conflict", `There are ${most.secrets} secrets already`)
      const isKeyNeeded = others.some(({ sealed }) => sealed !== null)
      const row = {
        ...bound,
        ...sourceOf(secret),
        sealed: isStored ? seal(keyFile.read(isKeyNeeded), boundTo(bound), valueOf(secret)) : null,
      }
      await store.write(async (write) => putSecret(write, row))
      log.info({ secret: secret.name, source: row.source, origins }, "secret set")
      return summaryOf(findSecret(handle, secret.name) as SecretRow)
    },
    list: () => allSecrets(handle).map(summaryOf),
    async remove(name) {
      const row = findSecret(handle, name)
      if (!row) throw unknown(name)
      await store.write(async (write) => removeSecret(write, name))
      log.info({ secret: name }, "secret removed")
      return summaryOf(row)
    },
    namesFor: (origin) =>
      allSecrets(handle)
        .filter((row) => originsIn(row).includes(origin))
        .map(({ name }) => name),
    originsOf(name) {
      const row = findSecret(handle, name)
      return row && originsIn(row)
    },
    async reveal(name, origin, signal) {
      const row = findSecret(handle, name)
      if (!row) throw unknown(name)
      if (!originsIn(row).includes(origin)) throw elsewhere(name, origin)
      const value = await take(row)
      options.onReveal(value)
      await store.write(async (write) => setUsed(write, name))
      log.info({ secret: name, origin }, "secret taken for a page")
      return { value, anyField: row.any_field === 1 }

      async function take({ source, reference, sealed }: SecretRow): Promise<Secret> {
        if (source !== "stored") return await askManager(callOf(source, reference ?? ""), variables, signal)
        const text = unseal(keyFile.read(true), boundTo(row as SecretRow), sealed ?? "")
        if (text !== undefined) return new Secret(text)
        throw new AppError("secret-unavailable", `The secret ${name} does not open with the key ${keyFile.path}`, {
          hint: "The key or the row was changed: set the secret anew: svc secrets set <name> --origin <origin>",
        })
      }
    },
  }
}

/** What a sealed value must not be parted from. */
function boundTo({ name, origins, any_field }: Pick<SecretRow, "name" | "origins" | "any_field">): string {
  return JSON.stringify([name, origins, any_field])
}

function valueOf({ value }: NewSecret): string {
  const text = value?.reveal() ?? ""
  if (text === "") throw new AppError("bad-request", "The secret is empty")
  if (text.length > most.chars) throw new AppError("bad-request", `The secret is longer than ${most.chars} characters`)
  if (/[\r\n\0]/.test(text)) throw new AppError("bad-request", "The secret has more than one line; a field takes one")
  return text
}

function sourceOf({ value, op, bw }: NewSecret): Pick<SecretRow, "source" | "reference"> {
  if ([value, op, bw].filter((each) => each !== undefined).length !== 1) {
    throw new AppError("bad-request", "A secret has one source: a value, --op or --bw")
  }
  if (op !== undefined) return onePasswordCall(op) && { source: "op", reference: op }
  if (bw) return bitwardenCall(bw.item, bw.field) && { source: "bw", reference: `${bw.field}/${bw.item}` }
  return { source: "stored", reference: null }
}

function callOf(source: "op" | "bw", reference: string): ManagerCall {
  if (source === "op") return onePasswordCall(reference)
  const cut = reference.indexOf("/")
  return bitwardenCall(reference.slice(cut + 1), reference.slice(0, cut) as "password")
}

function unknown(name: string): AppError {
  return new AppError("not-found", `There is no secret ${JSON.stringify(name.slice(0, 64))}`, {
    hint: "They are listed by: svc secrets list",
  })
}

function elsewhere(name: string, origin: string): AppError {
  return new AppError("forbidden", `The secret ${name} is not for ${origin.slice(0, 200)}`, {
    hint: "A secret is filled only into pages of the origins that its owner has named",
  })
}
