// Elements of a tab by words, for the steps of scripts: waited for, and told with the words by which they are found again.
// What the next snapshot `diff` compares with stays as it was.
import { z } from "zod"
import { type CoreOptions, createAccess, limits } from "../access.ts"
import { AppError } from "../../kernel/index.ts"
import type { Caller } from "../caller.ts"
import type { Line } from "../page/snapshot/line.ts"
import type { Operation, Tab } from "../page/tab.ts"
import { type Element, type Wanted, locate, locatorOf, readElements, wordsOf } from "../page/snapshot/locate.ts"
import { takeLines } from "../page/snapshot/take.ts"

const wantedWords = z.object({
  find: z.string().max(4_000),
  in: z.string().max(4_000).optional(),
  nth: z.number().int().min(0).optional(),
})
export const lookRequest = z.object({
  targetId: z.string().max(200).optional(),
  /** By words, or the one of a ref; nothing is looked for without it, only where the tab is. */
  wanted: z.union([wantedWords, z.object({ ref: z.string().max(200) })]).optional(),
  /** Looks for a tab that this one has opened, beside these: where that is then. Neither is looked into. */
  opened: z.object({ besides: z.array(z.string().max(200)).max(2_000) }).optional(),
  /** Only what can be acted on. */
  acts: z.boolean(),
  /** Until there is one; 0 looks once. */
  waitMs: z.number().min(0).max(120_000),
  /** Tells also by which words each is found again. */
  locators: z.boolean(),
})
export type LookRequest = z.infer<typeof lookRequest>

const found = z.object({
  ref: z.string().nullable(),
  role: z.string(),
  name: z.string(),
  /** What a field holds, or the words in it. */
  words: z.string(),
  disabled: z.boolean(),
  locator: wantedWords.exactOptional(),
})
export const lookReply = z.object({ targetId: z.string(), url: z.string(), found: z.array(found) })
export type Found = z.infer<typeof found>
export type LookReply = z.infer<typeof lookReply>

/** So many are told at most. */
const maxFound = 200
const maxWords = 2_000
const lookEveryMs = 100
/** On top of the wait: one look at a page. */
const lookMs = 10_000

export function elementOperations(options: CoreOptions) {
  const { guard, clock } = options
  const { enter, pick } = createAccess(options)
  /** What the last look at each tab has shown. */
  const seen = new WeakMap<Tab, Seen>()
  return {
    async look(caller: Caller, request: LookRequest): Promise<LookReply> {
      const tab = await pick(caller, request.targetId)
      const { wanted, opened } = request
      if (opened) {
        const { tabs, space } = await enter(caller)
        return whereIs(
          await openedBy(tab, { tabs: () => tabs.listIn(space), besides: opened.besides, ...request, clock, caller }),
        )
      }
      if (!wanted) return whereIs(tab)
      const until = clock.monotonic() + request.waitMs
      for (;;) {
        const found = await tab.operate(limits("Looking for the element", lookMs, caller), async (operation) => {
          guard.checkRead(tab)
          return await lookOnce(tab, { ...request, wanted }, { seen, operation })
        })
        const reply = { targetId: tab.targetId, url: tab.url, found }
        if (found.length > 0 || clock.monotonic() >= until) return reply
        await clock.sleep(lookEveryMs, caller.signal)
      }
    },
  }
}

const whereIs = (tab: Tab): LookReply => ({ targetId: tab.targetId, url: tab.url, found: [] })

interface Opening {
  tabs(): Tab[]
  besides: readonly string[]
  waitMs: number
  clock: CoreOptions["clock"]
  caller: Caller
}

/** The one tab that this one has opened, once it has come to a page; itself when there is none in time. */
async function openedBy(opener: Tab, { tabs, besides, waitMs, clock, caller }: Opening): Promise<Tab> {
  const until = clock.monotonic() + waitMs
  for (;;) {
    const all = tabs().filter(({ targetId, info }) => info.openerId === opener.targetId && !besides.includes(targetId))
    const opened = all.filter(({ hasBegun }) => hasBegun)
    const isOver = clock.monotonic() >= until
    // One that was opened for a file never comes to a page.
    if (isOver || opened.length === all.length) {
      if (opened.length > 1) throw severalOpened(opened)
      if (opened[0]) return opened[0]
    }
    if (isOver) return opener
    await clock.sleep(lookEveryMs, caller.signal)
  }
}

function severalOpened(opened: readonly Tab[]): AppError {
  const where = opened.slice(0, 5).map((tab) => `${tab.targetId} (${tab.url.slice(0, 200)})`)
  return new AppError("tab-ambiguous", `The page has opened ${opened.length} new tabs: ${where.join(", ")}`, {
    hint: "Go on in the one that is meant by a script of its own, with its targetId",
  })
}

interface Seen {
  url: string
  lines: readonly Line[]
  /** Monotonic. */
  at: number
}

/** Pages that have shown nothing of what was done by now are given this long: as in snapshots after input. */
const answerMs = 400
const answerEveryMs = 40

/** The page as it answers what was done last: a list that is drawn a moment later is not read as it was before. */
async function takeAnswered(tab: Tab, before: Seen | undefined, operation: Operation): Promise<Line[]> {
  const { inputAt } = tab.memory
  for (;;) {
    const lines = await takeLines(tab, "tree", operation)
    const isAnswer = !before || inputAt === undefined || inputAt < before.at || before.url !== tab.url
    if (isAnswer || tab.clock.monotonic() > inputAt + answerMs || !isSame(before.lines, lines)) return lines
    await tab.clock.sleep(answerEveryMs, operation.signal)
  }
}

function isSame(before: readonly Line[], now: readonly Line[]): boolean {
  return before.length === now.length && now.every(({ text }, index) => text === before[index]?.text)
}

async function lookOnce(
  tab: Tab,
  request: LookRequest & { wanted: Wanted | { ref: string } },
  { seen, operation }: { seen: WeakMap<Tab, Seen>; operation: Operation },
): Promise<Found[]> {
  const { wanted } = request
  const fits = (elements: readonly Element[]) =>
    "ref" in wanted ? byRef(tab, elements, wanted.ref) : locate(elements, wanted, request.acts)
  const lines = await takeAnswered(tab, seen.get(tab), operation)
  seen.set(tab, { url: tab.url, lines, at: tab.clock.monotonic() })
  let elements = readElements(lines)
  let found = fits(elements)
  if (found.length === 0) {
    // The list of controls names some that the tree does not: by what stands beside them, or by what is in them.
    elements = readElements(await takeLines(tab, "list", operation))
    found = fits(elements)
  }
  return found.slice(0, maxFound).map((element) => tell(elements, element, request.locators))
}

/** Throws for a ref that means nothing any more. */
function byRef(tab: Tab, elements: readonly Element[], ref: string): Element[] {
  const { world, id } = tab.refs.resolve(ref, tab)
  return elements.filter(({ line }) => line.ref?.entry.world === world && line.ref.entry.id === id)
}

function tell(elements: readonly Element[], element: Element, locators: boolean): Found {
  const { role, name, isDisabled, line } = element
  const locator = locators && line.ref ? locatorOf(elements, element) : undefined
  return {
    ref: line.ref?.key ?? null,
    role,
    name,
    words: wordsOf(elements, element).slice(0, maxWords),
    disabled: isDisabled,
    ...(locator === undefined ? {} : { locator }),
  }
}

/** The one that is meant. Throws `not-found`, or `strict-mode` where several could be. */
export function oneOf(found: readonly Found[], wanted: Wanted | { ref: string }): Found {
  if ("ref" in wanted) {
    const [only] = found
    if (only) return only
    throw new AppError("stale-ref", `The element of ref ${wanted.ref} is not on the page any more`, {
      hint: "Take a new snapshot and use a ref of it, or name the element by find",
    })
  }
  const { nth } = wanted
  const chosen = nth === undefined ? found[0] : found[nth]
  if (!chosen) {
    const there = found.length === 0 ? "Nothing on the page fits" : `Only ${found.length} on the page fit`
    throw new AppError("not-found", `${there} ${sayWanted(wanted)}`, {
      hint: "Take a snapshot and use its words, or a ref of it",
    })
  }
  if (nth === undefined && found.length > 1) {
    const some = found
      .slice(0, 5)
      .map(({ role, name, words }) => `${role} ${JSON.stringify(name || words.slice(0, 60))}`)
    throw new AppError("strict-mode", `${found.length} elements fit ${sayWanted(wanted)}: ${some.join(", ")}`, {
      hint: "Say which: in (words of its row or card) or nth (from 0)",
    })
  }
  return chosen
}

export function sayWanted({ find, in: inside, nth }: Wanted): string {
  const where = inside === undefined ? "" : ` in ${JSON.stringify(inside)}`
  return `${find}${where}${nth === undefined ? "" : ` (nth ${nth})`}`
}
