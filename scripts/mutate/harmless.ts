// Changes that no test can notice because nothing changes that anybody could see: judged by a person, each with why.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Mutation } from "./sites.ts"

export interface Harmless {
  file: string
  /** The line as it stands, without what it is indented by: an entry holds until the line is another. */
  code: string
  /** As the change is called. */
  what: string
  why: string
}

export function readHarmless(folder: string): (mutation: Mutation, source: string) => string | undefined {
  const all = JSON.parse(readFileSync(join(folder, "harmless.json"), "utf8")) as Harmless[]
  return ({ file, line, what }, source) => {
    const code = source.split("\n")[line - 1]?.trim()
    return all.find((each) => each.file === file && each.what === what && each.code === code)?.why
  }
}
