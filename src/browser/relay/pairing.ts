// The secret that the extension and this gateway share: made when somebody pairs, kept in a file of the state folder that
// only its owner reads, shown once as a code, and never sent.
import { createHmac, timingSafeEqual } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import type { Ids, Redactor } from "../../kernel/index.ts"
import { writeDurableFile } from "../../kernel/durable-file.ts"
import { formatPairingCode, proofText, type Role } from "./contract.ts"

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"
/** 160 bits. */
const characters = 32

const fileSchema = z.strictObject({
  secret: z.string().regex(/^[a-z2-7]{32}$/),
  /** When the code was made. */
  pairedAt: z.number(),
  /** When an extension first proved that it has it; null until then. Files of earlier versions do not tell. */
  provenAt: z.number().nullable().optional(),
})

export interface PairingOptions {
  stateFolder: string
  ids: Ids
  redactor: Redactor
  now(): number
}

export class Pairing {
  readonly #options: PairingOptions
  #secret: string | undefined
  #madeAt = 0
  #isProven = false
  #writing = Promise.resolve()

  constructor(options: PairingOptions) {
    this.#options = options
    const kept = read(this.#file)
    if (!kept) return
    this.#secret = kept.secret
    this.#madeAt = kept.pairedAt
    this.#isProven = kept.provenAt !== null
    options.redactor.add(kept.secret)
  }

  get #file(): string {
    return join(this.#options.stateFolder, "browser", "relay-pairing.json")
  }

  get hasCode(): boolean {
    return this.#secret !== undefined
  }

  /** Whether an extension has shown that it has the code: a code alone is only half a pairing. */
  get isProven(): boolean {
    return this.#isProven
  }

  /** A new secret in place of the one before. Gives the code that a person carries over; it is not shown again. */
  async renew(port: number): Promise<string> {
    const { ids, redactor, now } = this.#options
    const secret = Array.from({ length: characters }, () => alphabet[ids.below(alphabet.length)]).join("")
    const madeAt = now()
    await this.#inTurn(async () => {
      await this.#write({ secret, pairedAt: madeAt, provenAt: null })
      this.#secret = secret
      this.#madeAt = madeAt
      this.#isProven = false
    })
    redactor.add(secret)
    return formatPairingCode(port, secret)
  }

  /** Undefined while there is no secret. */
  prove(role: Role, port: number, nonces: { extension: string; relay: string }): string | undefined {
    if (this.#secret === undefined) return undefined
    return createHmac("sha256", this.#secret)
      .update(proofText(role, port, nonces))
      .digest("hex")
  }

  accepts(proof: string, port: number, nonces: { extension: string; relay: string }): boolean {
    const expected = Buffer.from(this.prove("extension", port, nonces) ?? "")
    const given = Buffer.from(proof)
    return expected.length > 0 && expected.length === given.length && timingSafeEqual(expected, given)
  }

  /** Keeps that an extension has the code. Rejects when that cannot be written; it holds until the end of the process then. */
  async keepProven(): Promise<void> {
    if (this.#isProven || this.#secret === undefined) return
    this.#isProven = true
    const [secret, pairedAt] = [this.#secret, this.#madeAt]
    await this.#inTurn(async () => {
      // A code made meanwhile is not to be overwritten by the one before it.
      if (this.#secret === secret) await this.#write({ secret, pairedAt, provenAt: this.#options.now() })
    })
  }

  async #write(kept: z.infer<typeof fileSchema>): Promise<void> {
    await writeDurableFile(this.#file, `${JSON.stringify(kept)}\n`)
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(work)
    this.#writing = done.catch(() => undefined)
    return done
  }
}

function read(file: string): z.infer<typeof fileSchema> | undefined {
  try {
    return fileSchema.parse(JSON.parse(readFileSync(file, "utf8")))
  } catch {
    // None yet, or one that was damaged: pairing again makes it anew.
    return undefined
  }
}
