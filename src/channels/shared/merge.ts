// Messages that waited together -> one input: what was said in the order it was said, everything that came with it, and
// no more trust than the least trusted part has.
import type { TurnContext, TurnInput } from "../../agent/turn-input.ts"
import type { Json } from "../../kernel/index.ts"

/** What `TurnInput.pending` is: files that are still to be fetched, in the channel's own form. */
type Pending = { files: Json[] }

export function mergeInputs(inputs: readonly TurnInput[]): TurnInput {
  const ordered = [...inputs].sort((a, b) => messageId(a) - messageId(b))
  const first = ordered[0] as TurnInput
  const main = mainPart(ordered)
  const trusted = ordered.every((input) => input.trusted)
  const media = ordered.flatMap((input) => input.media ?? [])
  const context = distinct(ordered.flatMap((input) => input.context ?? []))
  const sites = distinct(ordered.flatMap((input) => input.sites ?? []))
  const files = ordered.flatMap((input) => (input.pending as Pending | undefined)?.files ?? [])
  const { wrap: _wrap, ...rest } = first
  const header = headerOf(main, ordered)
  return {
    ...rest,
    ...(header === undefined ? {} : { header }),
    route: main.route,
    trusted,
    // Shown outside of a boundary only if that holds for every part.
    ...(!trusted && ordered.every((input) => input.trusted || input.wrap === false) ? { wrap: false } : {}),
    ...(ordered.some((input) => input.names) ? { names: true } : {}),
    ...(ordered.some((input) => input.mentioned) ? { mentioned: true } : {}),
    text: textOf(ordered),
    ...(sites.length === 0 ? {} : { sites }),
    ...(media.length === 0 ? {} : { media }),
    ...(context.length === 0 ? {} : { context }),
    ...(files.length === 0 ? {} : { pending: { files: distinct(files) } satisfies Pending }),
  }
}

/** The part that an answer refers to: of an album the one with words, else the first; of anything else the last. */
function mainPart(ordered: readonly TurnInput[]): TurnInput {
  const isAlbum = ordered[0]?.join?.kind === "album"
  const main = isAlbum ? (ordered.find(hasWords) ?? ordered[0]) : ordered.at(-1)
  return main as TurnInput
}

function textOf(ordered: readonly TurnInput[]): string {
  // A paste was cut at some character: nothing belongs between its parts.
  return ordered.map((input) => input.text).join(ordered[0]?.join?.kind === "paste" ? "" : "\n")
}

/** More than the placeholder of its file. */
function hasWords({ text }: TurnInput): boolean {
  return text.includes("\n")
}

function headerOf(main: TurnInput, ordered: readonly TurnInput[]): string | undefined {
  if (ordered.length === 1) return main.header
  const kind = main.join?.kind === "album" ? "an album of" : "joined of"
  return main.header?.replace(/\]$/, `, ${kind} ${ordered.length} messages]`)
}

function messageId(input: TurnInput): number {
  return Number(input.route?.messageId ?? 0)
}

/** Every part of an album that is a reply shows what it replies to; once is enough. */
function distinct<T extends TurnContext | Json>(items: readonly T[]): T[] {
  const seen = new Map(items.map((item) => [JSON.stringify(item), item]))
  return [...seen.values()]
}
