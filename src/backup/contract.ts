// What a backup says of itself, and what the commands answer. The manifest is the first member of every archive and is
// parsed from foreign bytes, so that its schema is the one place where names and sizes are judged.
import { z } from "zod"

/** Members below it make up the state folder. */
export const stateRoot = "state"
/** Members below it are files of the configuration that stood outside the state folder, by their whole path. */
export const elsewhereRoot = "elsewhere"
export const databaseMember = `${stateRoot}/svc.db`
export const manifestMember = "manifest.json"

/** More than any state folder holds; keeps a hostile manifest from filling the memory. */
export const maxMembers = 200_000
const maxDepth = 64
const maxPathBytes = 4_000

const memberSchema = z.object({
  path: z.string().refine(isMemberPath, { error: "is not a path that a backup may hold" }),
  size: z.int().min(0),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
})

export const manifestSchema = z.object({
  product: z.literal("svc"),
  format: z.literal(1),
  version: z.string().max(100),
  /** Milliseconds since the epoch; what was accepted before is in the backup. */
  createdAt: z.int().min(0),
  /** Whether a gateway was running on the folder. */
  gateway: z.enum(["running", "stopped"]),
  stateFolder: z.string().max(maxPathBytes),
  configPath: z.string().max(maxPathBytes),
  /** Names of the migrations that the database has gone through. */
  schema: z.array(z.string().max(200)).max(1_000),
  /** A program that knows this migration can use the database. */
  readableFrom: z.string().max(200).optional(),
  counts: z.record(z.string(), z.int().min(0)),
  /** In the order of the archive. */
  members: z.array(memberSchema).min(1).max(maxMembers),
  /** What was not taken, and why, for people. */
  leftOut: z.array(z.string().max(maxPathBytes)).max(1_000),
})

export type Manifest = z.infer<typeof manifestSchema>
export type Member = z.infer<typeof memberSchema>

// oxlint-disable-next-line no-control-regex
const unwanted = /[\\\u0000-\u001f\u007f-\u009f]/

/** Only plain names below one of the two roots: nothing that leads out, nothing that a terminal would obey. */
function isMemberPath(path: string): boolean {
  if (Buffer.byteLength(path) > maxPathBytes) return false
  const parts = path.split("/")
  if (parts.length < 2 || parts.length > maxDepth) return false
  if (parts[0] !== stateRoot && parts[0] !== elsewhereRoot) return false
  return parts.every((part) => part !== "" && part !== "." && part !== ".." && !unwanted.test(part))
}

export interface BackupFacts {
  /** Absolute path of the archive. */
  archive: string
  bytes: number
  version: string
  createdAt: number
  gateway: Manifest["gateway"]
  /** The last migration. */
  schema: string
  counts: Record<string, number>
  files: number
  leftOut: string[]
}

export interface BackupEntry {
  archive: string
  bytes: number
  createdAt: number
  scheduled: boolean
  version: string | null
  files: number | null
  /** Why the archive cannot be read. */
  problem?: string
}

/** What becomes of work that was accepted and not finished when the backup was made. */
export type OpenWork = "run" | "hold"
/** What becomes of messages that were not sent when the backup was made. */
export type Unsent = "ask" | "send"

export interface RestoreReport extends BackupFacts {
  folder: string
  /** Where the folder lies that stood there before. */
  setAside?: string
  openWork: { kept: OpenWork; jobs: number; runs: string[] }
  unsent: { kept: Unsent; messages: number }
  /** Where files of the configuration from outside the state folder lie now, and where they stood. */
  elsewhere: { from: string; to: string }[]
}

export type Progress = (step: string, done?: number, total?: number) => void
