// Who this node is, and which gateways it knows: one file that only its owner reads. A gateway is known from the moment on at
// which it has let the node in; one that shows another key afterwards is not the same.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { AppError, describeError } from "../../kernel/errors.ts"
import { writePrivateFile } from "../../kernel/private-file.ts"
import { type KeyPair, isPublicKey, keyPairOf, newPrivateKey } from "../keys.ts"
import { fingerprintOf } from "../protocol.ts"

interface Kept {
  key: string
  /** Public keys by address. */
  gateways: Record<string, string>
}

export class Identity {
  readonly keys: KeyPair
  readonly #file: string
  readonly #kept: Kept

  /** Throws `config-invalid` for a file that is damaged: a new key would be a new node. */
  constructor(folder: string) {
    this.#file = join(folder, "node.json")
    this.#kept = read(this.#file) ?? { key: newPrivateKey(), gateways: {} }
    this.keys = keyPairOf(this.#kept.key)
    this.#write()
  }

  get fingerprint(): string {
    return fingerprintOf(this.keys.publicKey)
  }

  knows(address: string): boolean {
    return this.#kept.gateways[address] !== undefined
  }

  /** Whether the gateway at this address may have this key. */
  fits(address: string, key: string): boolean {
    const known = this.#kept.gateways[address]
    return known === undefined ? isPublicKey(key) : known === key
  }

  remember(address: string, key: string): void {
    if (this.#kept.gateways[address] === key) return
    this.#kept.gateways[address] = key
    this.#write()
  }

  /** For a gateway that was set up anew. */
  forget(address: string): void {
    delete this.#kept.gateways[address]
    this.#write()
  }

  #write(): void {
    writePrivateFile(this.#file, `${JSON.stringify(this.#kept, null, 2)}\n`)
  }
}

function read(file: string): Kept | undefined {
  let text: string
  try {
    text = readFileSync(file, "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw new AppError("config-invalid", `${file} cannot be read: ${describeError(error)}`, { cause: error })
  }
  try {
    const { key, gateways } = JSON.parse(text) as Partial<Kept>
    keyPairOf(String(key))
    const entries = Object.entries(gateways ?? {}).filter(([, value]) => typeof value === "string")
    return { key: String(key), gateways: Object.fromEntries(entries) }
  } catch (error) {
    throw new AppError("config-invalid", `${file} is damaged: ${describeError(error)}`, {
      hint: "Put it back from a copy, or remove it: the node has to be let in again then",
      cause: error,
    })
  }
}
