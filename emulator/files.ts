// Files the platform keeps: uploads of bots and of users, by file id, with download links that expire.
import { createHash } from "node:crypto"
import type { Clock } from "./clock.ts"
import type { Random } from "./random.ts"

export type FileKind =
  | "photo"
  | "document"
  | "audio"
  | "voice"
  | "video"
  | "video_note"
  | "animation"
  | "sticker"
  | "thumbnail"

export interface StoredFile {
  fileId: string
  uniqueId: string
  kind: FileKind
  bytes: Buffer
  name: string
  mimeType: string
  /** Path below `/file/bot<token>/`. */
  path: string
  /** End of the validity of the download link, set by getFile. */
  linkExpiresAt: number
}

const linkLifetimeMs = 60 * 60 * 1000
const folders: Record<FileKind, string> = {
  photo: "photos",
  document: "documents",
  audio: "music",
  voice: "voice",
  video: "videos",
  video_note: "video_notes",
  animation: "animations",
  sticker: "stickers",
  thumbnail: "thumbnails",
}

export class FileStore {
  readonly #clock: Clock
  readonly #random: Random
  readonly #maxBytes: number
  readonly #byId = new Map<string, StoredFile>()
  readonly #byPath = new Map<string, StoredFile>()
  #totalBytes = 0
  #counter = 0

  constructor({ clock, random, maxBytes }: { clock: Clock; random: Random; maxBytes: number }) {
    this.#clock = clock
    this.#random = random
    this.#maxBytes = maxBytes
  }

  add({ kind, bytes, name, mimeType }: { kind: FileKind; bytes: Buffer; name: string; mimeType: string }): StoredFile {
    const digest = createHash("sha256").update(kind).update(bytes).digest("base64url")
    const extension = /\.[A-Za-z0-9]{1,8}$/.exec(name)?.[0] ?? ""
    const file = {
      fileId: `${folders[kind].slice(0, 2).toUpperCase()}AC${this.#random.text(52)}`,
      uniqueId: `AQAD${digest.slice(0, 12)}`,
      kind,
      bytes,
      name,
      mimeType,
      path: `${folders[kind]}/file_${this.#counter++}${extension}`,
      linkExpiresAt: 0,
    }
    this.#byId.set(file.fileId, file)
    this.#byPath.set(file.path, file)
    this.#totalBytes += bytes.length
    this.#forgetOldest(file)
    return file
  }

  get(fileId: string): StoredFile | undefined {
    return this.#byId.get(fileId)
  }

  /** Makes the download link valid for an hour from now. */
  openLink(file: StoredFile): void {
    file.linkExpiresAt = this.#clock.now() + linkLifetimeMs
  }

  /** The file behind a download path, while its link is valid. */
  download(path: string): StoredFile | undefined {
    const file = this.#byPath.get(path)
    return file && file.linkExpiresAt > this.#clock.now() ? file : undefined
  }

  #forgetOldest(newest: StoredFile): void {
    for (const file of this.#byId.values()) {
      if (this.#totalBytes <= this.#maxBytes || file === newest) return
      this.#byId.delete(file.fileId)
      this.#byPath.delete(file.path)
      this.#totalBytes -= file.bytes.length
    }
  }
}
