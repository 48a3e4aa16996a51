// The files of a turn, when it begins: fetched, told of in lines of our own above the words, and shown to the model if
// they are pictures. A file that cannot be had is such a line too, never a failed turn.
import { readFile } from "node:fs/promises"
import type { TurnContext, TurnInput, TurnMedia } from "../../../agent/turn-input.ts"
import type { Clock, Ids, Log } from "../../../kernel/index.ts"
import { type JobHandler, JobPostponed, type Store } from "../../../store/index.ts"
import type { Client } from "../client.ts"
import { type RemoteFile, stickerText } from "../inbound/content/index.ts"
import type { AccountSettings } from "../settings.ts"
import type { Stickers } from "../stickers/index.ts"
import type { Fetched } from "./download.ts"
import type { Downloads } from "./downloads.ts"
import type { KeptFile } from "./keep.ts"
import { type LatePending, createLateFiles, fetchLater, isUnreachable } from "./late.ts"
import { fitsModel, maxPictureBytes, maxPicturesBytes, shownText, sizeText } from "../../shared/media/shown.ts"
import { isPicture } from "../../shared/media/sniff.ts"

export interface Picture {
  mediaType: string
  /** Base64. */
  data: string
}

/** What a picture shows, in a sentence; undefined when no model that can see is to be had. */
export type DescribePicture = (
  asker: Pick<TurnInput, "agentId" | "sessionKey" | "origin">,
  picture: Picture,
  signal: AbortSignal,
) => Promise<string | undefined>

export interface FetchParts {
  downloads: Downloads
  stickers: Stickers
  settings: (account: string) => AccountSettings
  client: (account: string) => Client | undefined
  describePicture: DescribePicture
  store: Store
  ids: Ids
  clock: Clock
  log: Log
}

/** How long a turn waits in its place; then the place goes to others and the download goes on. */
const patienceMs = 10_000
const postponeMs = 1_000
/** How long its chat waits for files; then the turn goes on, and another shows them when they are there. */
const holdMs = 30_000

const mebibyte = 1024 * 1024

export async function fetchFiles(parts: FetchParts, input: TurnInput, signal: AbortSignal): Promise<TurnInput> {
  const { pending, ...rest } = input
  const { files = [], isLate = false } = (pending as LatePending | undefined) ?? {}
  if (files.length === 0 || !input.route) return rest
  const { account } = input.route
  const known = new Map(files.map((file) => [file, file.sticker && describedSticker(parts, account, file)]))
  const wanted = files.filter((file) => known.get(file) === undefined)
  const fetched = await fetchAll(parts, account, wanted, signal)
  const late = isLate ? [] : wanted.filter((file) => isMissing(fetched.get(file)))
  if (late.length > 0) await fetchLater(parts, input, late)
  const turn = new TurnFiles(rest, files.length)
  for (const [index, file] of files.entries()) {
    const outcome = fetched.get(file) ?? unreachable
    if (!wanted.includes(file)) turn.describeSticker(file, known.get(file) as string)
    else if (late.includes(file)) turn.note({ file, index }, lateText)
    else if (file.sticker && outcome.kind === "kept") await addSticker(parts, turn, file, outcome.file, signal)
    else await addFile(parts, turn, { file, index, outcome, account, signal })
  }
  return turn.input()
}

async function fetchAll(
  parts: FetchParts,
  account: string,
  files: readonly RemoteFile[],
  signal: AbortSignal,
): Promise<Map<RemoteFile, Fetched | undefined>> {
  if (files.length === 0) return new Map()
  const limits = { patienceMs, holdMs, signal }
  const outcomes = await parts.downloads.get(account, files, downloadSettings(parts, account), limits)
  if (outcomes.isWorthWaiting) throw new JobPostponed(parts.clock.now() + postponeMs, "a download takes long")
  return new Map(files.map((file, index) => [file, outcomes.files[index]]))
}

/** The handler of the jobs that fetch what a turn did not wait for. */
export function createLateFetch(parts: FetchParts): JobHandler {
  return createLateFiles({
    ...parts,
    async fetch(account, files, signal) {
      const settings = downloadSettings(parts, account)
      return (await parts.downloads.get(account, files, settings, { patienceMs, signal })).files
    },
  })
}

/** Under way for too long, or it cannot be had now. */
function isMissing(outcome: Fetched | undefined): boolean {
  return outcome === undefined || isUnreachable(outcome)
}

const unreachable: Fetched = { kind: "left-out", why: "unreachable", detail: "it takes too long" }
const lateText = "it cannot be fetched yet; it will be shown by itself as soon as it is there"

function downloadSettings(parts: FetchParts, account: string) {
  const { mediaMaxMb, timeoutSeconds, localFileRoots } = parts.settings(account)
  return {
    client: () => parts.client(account),
    maxBytes: mediaMaxMb * mebibyte,
    timeoutMs: timeoutSeconds * 1000,
    localRoots: localFileRoots ?? [],
  }
}

function describedSticker({ stickers }: FetchParts, account: string, { uniqueId }: RemoteFile): string | undefined {
  return stickers.get(account, uniqueId)?.description || undefined
}

/** Looked at once; from then on its words stand for it. If nobody can look, the model may see it itself. */
async function addSticker(
  parts: FetchParts,
  turn: TurnFiles,
  file: RemoteFile,
  kept: KeptFile,
  signal: AbortSignal,
): Promise<void> {
  const { agentId, sessionKey, origin, route } = turn.base
  const { emoji = "", setName = "" } = file.sticker ?? {}
  const isSeen = isPicture(kept.mediaType) && kept.bytes <= maxPictureBytes
  const description = isSeen ? await describe(parts, { agentId, sessionKey, origin }, kept, signal) : undefined
  await parts.stickers.put({
    fileId: file.fileId,
    fileUniqueId: file.uniqueId,
    account: route?.account ?? "",
    emoji,
    setName,
    description: description ?? "",
  })
  if (description !== undefined) turn.describeSticker(file, description)
  else if (isSeen) turn.show({ path: kept.path, mediaType: kept.mediaType }, kept.bytes)
}

async function describe(parts: FetchParts, asker: Parameters<DescribePicture>[0], kept: KeptFile, signal: AbortSignal) {
  const picture = { mediaType: kept.mediaType, data: (await readFile(kept.path)).toString("base64") }
  return await parts.describePicture(asker, picture, signal)
}

interface Added {
  file: RemoteFile
  index: number
  outcome: Fetched
  account: string
  signal: AbortSignal
}

async function addFile(parts: FetchParts, turn: TurnFiles, added: Added): Promise<void> {
  const { file, outcome, account } = added
  if (outcome.kind === "left-out") {
    const { why, detail } = outcome
    parts.log.warn({ account, message: file.messageId, kind: file.kind, why, reason: detail }, "file left out")
    turn.note(added, `left out: ${reasonText(outcome, file, parts.settings(account).mediaMaxMb)}`)
  } else {
    const { mediaType, bytes, path } = outcome.file
    turn.note(added, [mediaType, sizeText(bytes), path].join(", "))
    if (canBeShown(outcome.file, file) && turn.show({ path, mediaType }, bytes)) return
    const text = file.kind === "document" ? await shownText(outcome.file) : undefined
    if (text !== undefined) return turn.quote(added, text)
  }
  await addPreview(parts, turn, added)
}

/** Something to see of what cannot be shown itself: a still of a film, a smaller form of a picture. */
async function addPreview(parts: FetchParts, turn: TurnFiles, { file, account, signal }: Added): Promise<void> {
  const preview = file.previews?.[0]
  if (!preview) return
  const wanted = { ...preview, mediaType: "image/jpeg" }
  const options = { patienceMs, signal }
  const { files } = await parts.downloads.get(account, [wanted], downloadSettings(parts, account), options)
  const [outcome] = files
  if (outcome?.kind !== "kept" || !canBeShown(outcome.file, file)) return
  const { path, mediaType, bytes } = outcome.file
  if (turn.show({ path, mediaType }, bytes)) turn.noteMore("A small preview of it is shown.")
}

function canBeShown(kept: KeptFile, { kind }: RemoteFile): boolean {
  // The platform has made its own photos; a file whose size is not to be found may be anything.
  return fitsModel(kept, kind === "photo")
}

type LeftOut = Extract<Fetched, { kind: "left-out" }>

function reasonText({ why, bytes }: LeftOut, file: RemoteFile, mediaMaxMb: number): string {
  const known = bytes ?? file.bytes
  const size = known === undefined ? "it" : sizeText(known)
  switch (why) {
    case "too-large":
      return `${size} is more than the ${mediaMaxMb} MB that are taken in; say so to the sender`
    case "not-handed-out":
      return `${size} is more than the platform hands out to bots (20 MB); say so to the sender`
    case "refused":
      return "the platform does not hand it out"
    case "unreachable":
      return "it could not be downloaded; the sender can send it again"
    case "untrusted-path":
      return "the operator has not allowed its folder (channels.chatapp.localFileRoots)"
  }
}

/** The input as it grows by what the files add. */
class TurnFiles {
  readonly base: TurnInput
  readonly #count: number
  readonly #notes: string[] = []
  readonly #media: TurnMedia[]
  readonly #context: TurnContext[]
  #text: string
  #sticker: TurnInput["sticker"]
  #pictureBytes = 0

  constructor(base: TurnInput, count: number) {
    this.base = base
    this.#count = count
    this.#media = [...(base.media ?? [])]
    this.#context = [...(base.context ?? [])]
    this.#text = base.text
    this.#sticker = base.sticker
  }

  note(added: Pick<Added, "file" | "index">, text: string): void {
    this.#notes.push(`[${this.#labelOf(added)}: ${text}]`)
  }

  noteMore(text: string): void {
    this.#notes.push(`[${text}]`)
  }

  /** False when there are enough already. */
  show(media: TurnMedia, bytes: number): boolean {
    if (this.#pictureBytes + bytes > maxPicturesBytes) return false
    this.#pictureBytes += bytes
    this.#media.push(media)
    return true
  }

  quote(added: Pick<Added, "file" | "index">, text: string): void {
    this.#context.push({ label: `Contents of ${this.#labelOf(added)}:`, text })
  }

  describeSticker(file: RemoteFile, description: string): void {
    if (!file.sticker) return
    const [plain, described] = [stickerText(file.sticker), stickerText(file.sticker, description)]
    if (file.ofReply) {
      const at = this.#context.findIndex(({ text }) => text.includes(plain))
      const context = this.#context[at]
      if (context) this.#context[at] = { ...context, text: context.text.replace(plain, () => described) }
      return
    }
    this.#text = this.#text.replace(plain, () => described)
    if (this.#sticker) this.#sticker = { ...this.#sticker, cachedDescription: description }
  }

  input(): TurnInput {
    const header = [...(this.base.header === undefined ? [] : [this.base.header]), ...this.#notes].join("\n")
    return {
      ...this.base,
      ...(header === "" ? {} : { header }),
      text: this.#text,
      ...(this.#media.length === 0 ? {} : { media: this.#media }),
      ...(this.#context.length === 0 ? {} : { context: this.#context }),
      ...(this.#sticker ? { sticker: this.#sticker } : {}),
    }
  }

  #labelOf({ file, index }: Pick<Added, "file" | "index">): string {
    const which = this.#count === 1 ? "file" : `file ${index + 1} of ${this.#count}`
    return `${which}${file.ofReply ? " of the message that is answered" : ""}, ${file.kind}`
  }
}
