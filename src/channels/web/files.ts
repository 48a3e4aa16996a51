// The files of the page's chat, in a folder of its own: what people bring, named by what it is and not by what it is
// called, and copies of what answers show, so that a chat shows the same tomorrow. Nothing is kept for ever.
import { open, stat } from "node:fs/promises"
import { basename, extname, join } from "node:path"
import {
  AppError,
  type Background,
  type Ids,
  type Log,
  isDiskFailure,
  isOutOfHandles,
  readInside,
  writeDurableFile,
} from "../../kernel/index.ts"
import { pruneFolder } from "../../kernel/prune-folder.ts"
import type { ReplyMedia } from "../../delivery/contract.ts"
import { openMedia } from "../shared/media/open.ts"
import { headBytes, sniff } from "../shared/media/sniff.ts"
import type { StoredFile } from "./store.ts"

export interface WebFilesOptions {
  /** Absolute. */
  mediaRoot: string
  maxMb: () => number
  /** The time by which files are old. */
  pruneTime: () => number
  ids: Ids
  background: Background
  log: Log
  /** For tests, whose disks work. */
  open?: typeof openMedia
}

export interface Upload {
  id: string
  mediaType: string
  bytes: number
}

/** One that a message names, as it lies there. */
export interface KeptUpload extends Upload {
  name: string
  stored: string
  path: string
  head: Buffer
}

const mebibyte = 1024 * 1024
const keepMs = 30 * 24 * 60 * 60 * 1000
const maxFolderBytes = 1024 * mebibyte
const cleanEveryMs = 60 * 60 * 1000
const uploadPattern = /^[0-9a-f-]{36}\.[a-z0-9]{1,5}$/
const maxNameCharacters = 120

export class WebFiles {
  readonly #options: WebFilesOptions
  readonly #folder: string
  #cleanedAt = Number.NEGATIVE_INFINITY

  constructor(options: WebFilesOptions) {
    this.#options = options
    this.#folder = join(options.mediaRoot, "web")
  }

  maxBytes(): number {
    return Math.floor(this.#options.maxMb() * mebibyte)
  }

  /** Durable when it resolves. */
  async save(content: Uint8Array, claimed: string | undefined): Promise<Upload> {
    if (content.length === 0) throw new AppError("bad-request", "The file is empty")
    this.#clean()
    const { mediaType, extension } = sniff(Buffer.from(content.subarray(0, headBytes)), claimed)
    const id = `${this.#options.ids.uuid()}${extension}`
    await writeDurableFile(join(this.#folder, nameOfUpload(id)), content)
    return { id, mediaType, bytes: content.length }
  }

  /** What was brought under this id. Throws `not-found`. */
  async find({ id, name }: { id: string; name: string }): Promise<KeptUpload> {
    const stored = nameOfUpload(id)
    const path = join(this.#folder, stored)
    const info = uploadPattern.test(id) ? await stat(path).catch(ignoreMissing) : undefined
    if (!info) throw new AppError("not-found", "A file of this message is not there any more", { hint: "Add it again" })
    const head = await readHead(path, info.size)
    const { mediaType } = sniff(head, undefined)
    return { id, name: plainName(name), mediaType, bytes: info.size, stored, path, head }
  }

  /**
   * A copy of what an answer shows; what cannot be had is told in its place. Throws where it may be had later: without
   * handles, and, for as long as it `mayWait`, of a disk that does not work.
   */
  async keep({ path, mediaType }: ReplyMedia, stem: string, mayWait: boolean): Promise<StoredFile> {
    this.#clean()
    const name = plainName(basename(path))
    try {
      const media = await (this.#options.open ?? openMedia)({
        path,
        root: this.#options.mediaRoot,
        maxMb: this.#options.maxMb(),
      })
      await media.close()
      const stored = `${stem}${extname(path).slice(0, 8)}`
      const copy = join(this.#folder, stored)
      // A crash may have come between the copy and its row.
      if (!(await stat(copy).catch(ignoreMissing))) await writeDurableFile(copy, { copyOf: path })
      return { name, mediaType, bytes: media.bytes, stored }
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "media-refused") throw error
      if (isOutOfHandles(error) || (mayWait && isDiskFailure(error))) throw error
      this.#options.log.warn({ path, reason: error.message }, "file of an answer left out")
      return { name, mediaType, bytes: 0, problem: error.message }
    }
  }

  /** Throws `not-found` for what is kept no longer. */
  read({ stored }: StoredFile): Buffer {
    const file = stored === undefined ? undefined : readInside(this.#folder, basename(stored), Number.POSITIVE_INFINITY)
    if (file?.kind === "file") return file.data
    throw new AppError("not-found", "This file is not kept any more", {
      hint: "Files of the chat are kept for 30 days",
    })
  }

  #clean(): void {
    const { pruneTime, background } = this.#options
    const now = pruneTime()
    if (now - this.#cleanedAt < cleanEveryMs) return
    this.#cleanedAt = now
    const limits = { now, keepMs, maxBytes: maxFolderBytes }
    background.run("clean the files of the page's chat", async () => void (await pruneFolder(this.#folder, limits)))
  }
}

function nameOfUpload(id: string): string {
  return `in-${id}`
}

async function readHead(path: string, size: number): Promise<Buffer> {
  const file = await open(path)
  try {
    const head = Buffer.alloc(Math.min(size, headBytes))
    await file.read(head, 0, head.length, 0)
    return head
  } finally {
    await file.close()
  }
}

/** For people: one line, without what would turn it around or hide its end. */
function plainName(name: string): string {
  const plain = basename(name.replaceAll("\\", "/"))
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "")
    .trim()
  return plain.length <= maxNameCharacters
    ? plain || "file"
    : `${plain.slice(0, maxNameCharacters - 12)}…${plain.slice(-10)}`
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined
  throw error
}
