// What was said on the page -> the input of a turn: the owner's words, the message that they answer, their files. Text
// of files and quoted words of others are somebody else's: the turn that reads them has less standing.
import type { TurnContext, TurnInput, TurnMedia } from "../../agent/turn-input.ts"
import { addressesIn, sitesIn } from "../../kernel/index.ts"
import { fitsModel, maxPicturesBytes, shownText, sizeText } from "../shared/media/shown.ts"
import type { KeptUpload } from "./files.ts"
import type { Place } from "./place.ts"
import { routeOf } from "./place.ts"
import type { KeptMessage } from "./store.ts"
import { webChannel } from "./contract.ts"

/** Whoever speaks here has signed in to the page, and is the owner. */
export const asker = { id: webChannel, origin: "owner", isAuthorised: true } as const

export interface Said {
  place: Place
  /** The page's own id of the message. */
  ref: string
  text: string
  files: readonly KeptUpload[]
  answered?: KeptMessage | undefined
  sentAt: number
  /** As the model is shown it. */
  timeText: string
}

const maxQuoted = 4_000

export async function wordsInput(said: Said): Promise<TurnInput> {
  const { place, ref, text, files, answered, sentAt, timeText } = said
  const reading = await readFiles(files)
  const quoted = answered && quoteOf(answered)
  const context = [...(quoted ? [quoted] : []), ...reading.context]
  // Quoted words that are the owner's own, or the agent's from a turn that held nobody else's, take nothing away.
  const isForeign = reading.context.length > 0 || (quoted !== undefined && quoted.isOwn !== true)
  const sites = [...sitesIn(text), ...addressesIn(text)]
  const names = files.map(({ name }) => name).join(", ")
  return {
    ...place,
    purpose: "chat",
    origin: "owner",
    trusted: !isForeign,
    ...(isForeign ? { wrap: false } : {}),
    header: [`[the gateway's page, private chat, from the owner, ${timeText}]`, ...reading.notes].join("\n"),
    ...(names === "" ? {} : { about: { files: names } }),
    text,
    ...(context.length === 0 ? {} : { context }),
    ...(reading.media.length === 0 ? {} : { media: reading.media }),
    ...(sites.length === 0 ? {} : { sites }),
    askedBy: asker,
    mentioned: true,
    sentAt,
    route: routeOf(place.sessionKey, ref),
  }
}

function quoteOf({ text, side, provenance }: KeptMessage): TurnContext | undefined {
  if (text === "") return undefined
  const label =
    side === "in" ? "This answers an earlier message of theirs:" : "This answers an earlier message of yours:"
  const shown = text.length <= maxQuoted ? text : `${text.slice(0, maxQuoted)}…`
  return { label, text: shown, ...(provenance?.trusted ? { isOwn: true as const } : {}) }
}

async function readFiles(files: readonly KeptUpload[]) {
  const notes: string[] = []
  const media: TurnMedia[] = []
  const context: TurnContext[] = []
  let pictureBytes = 0
  for (const [index, file] of files.entries()) {
    const { path, mediaType, bytes } = file
    const name = files.length === 1 ? "file" : `file ${index + 1} of ${files.length}`
    notes.push(`[${name}: ${mediaType}, ${sizeText(bytes)}, ${path}]`)
    if (fitsModel(file, false) && pictureBytes + bytes <= maxPicturesBytes) {
      pictureBytes += bytes
      media.push({ path, mediaType })
    }
    const text = await shownText(file)
    if (text !== undefined) context.push({ label: `Contents of ${name}:`, text })
  }
  return { notes, media, context }
}
