// Kept scripts: files of the state folder, one each, which a person can read, change and copy. Elements stand in them by
// words, secrets by name; what must not be kept is refused in words.
import { readFile, readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { z } from "zod"
import {
  AppError,
  type Clock,
  describeError,
  type JsonObject,
  type Log,
  parseJson,
  siteOf,
  writeDurableFile,
} from "../../kernel/index.ts"
import { parseRequest } from "../requests/parse.ts"

const fileShape = z.object({
  /** Where it begins; empty when its own first step says so. */
  start: z.string().max(8_000).default(""),
  /** Sites of the pages that it worked on: on others it does nothing. */
  sites: z.array(z.string()).max(100),
  /** Those of them that the owner had named when it was kept. */
  named: z.array(z.string()).max(100).default([]),
  steps: z.array(z.looseObject({ kind: z.string() })).min(1),
  madeAt: z.string(),
  runs: z.number().int().default(0),
  lastRun: z.string().exactOptional(),
  lastStop: z.string().exactOptional(),
})

export type KeptScript = Omit<z.infer<typeof fileShape>, "steps"> & { name: string; steps: JsonObject[] }

const maxScripts = 200
const maxBytes = 100_000

export interface ShelfOptions {
  folder: string
  clock: Clock
  log: Log
  /** True for a text with a secret in it. */
  holdsSecret(text: string): boolean
}

export class Shelf {
  readonly #options: ShelfOptions
  /** Changes one after the other: what is noted must not bring back what was there before a change. */
  #line: Promise<unknown> = Promise.resolve()

  constructor(options: ShelfOptions) {
    this.#options = options
  }

  async list(): Promise<KeptScript[]> {
    const names = await this.#names()
    const read = await Promise.all(
      names.map((name) =>
        this.read(name).catch((error: unknown) => {
          // Whoever writes one by hand is told when it is used.
          if (error instanceof AppError) return undefined
          throw error
        }),
      ),
    )
    return read.filter((script) => script !== undefined)
  }

  async #names(): Promise<string[]> {
    try {
      const files = await readdir(this.#options.folder)
      return files
        .filter((file) => /^[a-z0-9][a-z0-9-]*\.json$/.test(file))
        .map((file) => file.slice(0, -5))
        .toSorted()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return []
      throw error
    }
  }

  /** Throws `not-found`, and `bad-request` for a file that is no script. */
  async read(written: string): Promise<KeptScript> {
    const name = nameIn(written)
    let text: string
    try {
      text = await readFile(this.#path(name), "utf8")
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
      const names = await this.#names()
      throw new AppError("not-found", `There is no kept script ${name}`, {
        hint: names.length === 0 ? "None are kept yet" : `There are: ${names.slice(0, 20).join(", ")}`,
        cause: error,
      })
    }
    try {
      return { name, ...parseRequest(fileShape, parseJson(text)) } as KeptScript
    } catch (error) {
      if (error instanceof AppError) {
        throw new AppError("bad-request", `The kept script ${name} cannot be read: ${error.message}`, {
          hint: `Mend or remove its file: ${this.#path(name)}`,
          cause: error,
        })
      }
      throw error
    }
  }

  /** In place of one of the same name. Why not, in words; undefined when it is kept. */
  async keep(
    written: string,
    script: Pick<KeptScript, "start" | "sites" | "named" | "steps">,
  ): Promise<string | undefined> {
    const name = nameIn(written)
    const { start, sites, named, steps } = script
    const madeAt = new Date(this.#options.clock.now()).toISOString()
    const text = JSON.stringify({ start, sites, named, steps, madeAt, runs: 0 }, null, 2)
    if (text.length > maxBytes) return `it is longer than ${maxBytes} characters`
    if (this.#options.holdsSecret(text))
      return "a secret stands in it: give it by its name ({secret: name}), or as a value ({{name}})"
    try {
      return await this.#inLine(async () => {
        const names = await this.#names()
        if (!names.includes(name) && names.length >= maxScripts) return `there are ${maxScripts} kept scripts already`
        await this.#write(name, text)
        return undefined
      })
    } catch (error) {
      // Its steps have been done by now: a full disk must not make them look as if they had not.
      return `it could not be written: ${describeError(error)}`
    }
  }

  /** That it was run, and where it stopped; in the file as it is by now, if it is still the same. Never rejects. */
  async note(script: KeptScript, stopped: string | undefined): Promise<void> {
    try {
      await this.#inLine(() => this.#note(script, stopped))
    } catch (error) {
      this.#options.log.warn({ script: script.name, reason: describeError(error) }, "run of a kept script not noted")
    }
  }

  async #note({ name, madeAt, steps }: KeptScript, stopped: string | undefined): Promise<void> {
    const names = await this.#names()
    if (!names.includes(name)) return
    const { name: _name, lastStop: _last, ...now } = await this.read(name)
    if (now.madeAt !== madeAt || !isDeepStrictEqual(now.steps, steps)) return
    const lastRun = new Date(this.#options.clock.now()).toISOString()
    const noted = { ...now, runs: now.runs + 1, lastRun, ...(stopped === undefined ? {} : { lastStop: stopped }) }
    await this.#write(name, JSON.stringify(noted, null, 2))
  }

  async remove(written: string): Promise<void> {
    await this.#inLine(async () => {
      const { name } = await this.read(written).catch((error: unknown) => {
        if (error instanceof AppError && error.code === "bad-request") return { name: nameIn(written) }
        throw error
      })
      await rm(this.#path(name), { force: true })
    })
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#line.then(work)
    this.#line = done.catch(() => undefined)
    return done
  }

  #path(name: string): string {
    return join(this.#options.folder, `${name}.json`)
  }

  async #write(name: string, text: string): Promise<void> {
    await writeDurableFile(this.#path(name), `${text}\n`)
  }
}

/** Throws `bad-request`. */
export function nameIn(written: string): string {
  const name = written.trim().toLowerCase()
  if (/^[a-z0-9][a-z0-9-]{0,39}$/.test(name)) return name
  throw new AppError(
    "bad-request",
    `'${written.slice(0, 40)}' is no name for a script: small letters, digits and -, at most 40`,
  )
}

/** Fields whose plain words nobody wants in a file. */
const delicate = /passw|passcode|passphrase|\bpin\b|\bcvc\b|\bcvv\b|one-time|security code/i

/** Why a script is not kept: plain words for a field that sounds like a password's. */
export function delicateStep(steps: readonly JsonObject[]): string | undefined {
  const text = (value: unknown) => typeof value === "string" && value !== "" && !/^\{\{[^{}]*\}\}$/.test(value.trim())
  for (const step of steps) {
    const inner = ["steps", "else"].flatMap((name) => (Array.isArray(step[name]) ? (step[name] as JsonObject[]) : []))
    const fields = Array.isArray(step["fields"]) ? (step["fields"] as JsonObject[]) : []
    const words = [step, ...fields].find(
      (each) => delicate.test(String(each["find"] ?? "")) && (text(each["text"]) || text(each["value"])),
    )
    if (words)
      return `${String(words["find"])} was given plain words: give a kept secret by name, or a value ({{name}})`
    const inside = delicateStep(inner)
    if (inside !== undefined) return inside
  }
  return undefined
}

export function sitesOfUrls(urls: readonly string[]): string[] {
  return [...new Set(urls.flatMap((url) => siteOf(url) ?? []))]
}
