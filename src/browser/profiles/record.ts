// What we wrote down of a browser that we started: proof, after a crash of the gateway, that it is ours.
import { readFile, rm } from "node:fs/promises"
import { z } from "zod"
import { writeDurableFile } from "../../kernel/index.ts"

const recordSchema = z.object({
  pid: z.int().positive(),
  /** Where it listens, and its own, unguessable address there. Absent for a browser at the end of a pipe. */
  door: z.object({ port: z.int().min(1).max(65_535), webSocketUrl: z.string() }).optional(),
  host: z.string(),
  headless: z.boolean(),
  path: z.string(),
  /** Below it numbers of elements may have been given. Only for browsers that outlive their gateway, which have a door. */
  refsBelow: z.int().positive().optional(),
})

export type BrowserRecord = z.infer<typeof recordSchema>

/** Undefined when there is none, or none that can be read: then nothing is proven. */
export async function readRecord(path: string): Promise<BrowserRecord | undefined> {
  try {
    return recordSchema.parse(JSON.parse(await readFile(path, "utf8")))
  } catch {
    return undefined
  }
}

export async function writeRecord(path: string, record: BrowserRecord): Promise<void> {
  await writeDurableFile(path, JSON.stringify(record))
}

export async function removeRecord(path: string): Promise<void> {
  await rm(path, { force: true })
}
