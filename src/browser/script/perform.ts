// Act `run`, for both faces: parse -> choose the tab -> do the steps -> what came of it, with what the page shows now.
import { AppError, siteOf } from "../../kernel/index.ts"
import type { Caller } from "../caller.ts"
import type {
  ActReply,
  AriaReply,
  FreshSnapshot,
  NavigateReply,
  PageReply,
  RunReply,
  SnapshotReply,
  TabInfo,
} from "../contract.ts"
import {
  type ActRequest,
  type DialogRequest,
  type NavigateRequest,
  type RunRequest,
  type SnapshotRequest,
  parseAct,
  parseRequest,
  snapshotRequest,
} from "../requests/index.ts"
import type { LookReply, LookRequest } from "./elements.ts"
import { type Script, parseScript, refsIn } from "./form.ts"
import { type Deed, type Outcome, type TabHands, runScript } from "./run.ts"
import { rove, tabsToFollow } from "./follow.ts"
import { type KeptScript, delicateStep, nameIn, sitesOfUrls } from "./shelf.ts"

/** What scripts need of a browser, wherever that is. */
export interface ScriptCore {
  act(caller: Caller, request: ActRequest): Promise<ActReply>
  navigate(caller: Caller, request: NavigateRequest): Promise<NavigateReply>
  answerDialog(caller: Caller, request: DialogRequest): Promise<PageReply>
  look(caller: Caller, request: LookRequest): Promise<LookReply>
  snapshot(caller: Caller, request: SnapshotRequest): Promise<SnapshotReply | AriaReply>
  tabs(caller: Caller): Promise<{ tabs: TabInfo[] }>
}

/** Each step is what the call of its own would be. */
export function plainHands(core: ScriptCore, caller: Caller, targetId: string): TabHands {
  return {
    act: async (fields) => deedOf(await core.act(caller, parseAct({ ...fields, targetId }))),
    navigate: async (url) => deedOf(await core.navigate(caller, { url, targetId, timeoutMs: 20_000 })),
    answer: async (answer) => deedOf(await core.answerDialog(caller, { ...answer, targetId, timeoutMs: 120_000 })),
    look: (request) => core.look(caller, { ...request, targetId }),
  }
}

export function deedOf(reply: { url: string } & Partial<Deed>): Deed {
  const { url, dialog, closed, result, note } = reply
  return { url, dialog, closed, result, note }
}

/** Where scripts are kept. */
export interface ScriptShelf {
  readScript(name: string): Promise<KeptScript>
  keepScript(
    name: string,
    script: Pick<KeptScript, "start" | "sites" | "named" | "steps">,
  ): Promise<{ reason: string | null }>
  noteScript(script: KeptScript, stopped: string | undefined): Promise<void>
}

export interface Performing {
  shelf: ScriptShelf
  handsFor(caller: Caller, targetId: string): TabHands
  /** Sites that the owner has named. */
  isNamed(site: string): boolean
  /** Whoever wrote the script may have been told to by words of others: only what was done, and so looked at, is kept. */
  keepsTriedOnly: boolean
}

export async function performScript(
  core: ScriptCore,
  request: RunRequest,
  caller: Caller,
  { shelf, handsFor, isNamed, keepsTriedOnly }: Performing,
): Promise<RunReply> {
  const kept = await keptOf(request, shelf)
  const script = parseScript(kept?.steps ?? request.steps, Object.keys(request.values))
  if (kept && kept.start !== "") script.steps.unshift({ place: "start", kind: "navigate", url: kept.start })
  if (request.keep !== undefined) nameIn(request.keep)
  const start = await core.look(caller, { targetId: request.targetId, wanted: undefined, ...justLook })
  let { targetId } = start
  const known = await tabsToFollow(core, caller, script)
  const outcome = await runScript(
    script,
    (signal) => {
      const own = { ...caller, signal }
      const hands = rove(core, own, {
        targetId,
        known,
        handsIn: (id) => {
          targetId = id
          return handsFor(own, id)
        },
      })
      return kept ? onItsSites(hands, kept) : hands
    },
    {
      values: request.values,
      records: request.keep !== undefined,
      timeoutMs: request.timeoutMs,
      signal: caller.signal,
    },
  )
  const { stopped, done, values, notes } = outcome
  if (kept) await shelf.noteScript(kept, stopped && `step ${stopped.step}: ${stopped.code}`)
  const keeping =
    request.keep === undefined
      ? {}
      : await keep(request.keep, { script, outcome, start: start.url, shelf, isNamed, keepsTriedOnly, kept })
  return {
    ok: true,
    ...(await endOf(core, caller, targetId, request.snapshot)),
    done,
    values,
    ...(stopped ? { stopped } : {}),
    ...(notes.length > 0 ? { notes } : {}),
    ...keeping,
  }
}

async function keptOf({ script, steps }: RunRequest, shelf: ScriptShelf): Promise<KeptScript | undefined> {
  if (script === undefined) return undefined
  if (steps === undefined) return await shelf.readScript(script)
  throw new AppError("bad-request", "steps and script exclude each other")
}

/** A kept script does nothing on pages of sites that it was not made on, wherever these have come to lead. */
function onItsSites<H extends TabHands>(hands: H, { sites }: KeptScript): H {
  const elsewhere = (what: string) =>
    new AppError("script-stopped", `${what}, where this script was not made`, {
      hint: `Its sites: ${sites.join(", ")}`,
    })
  const check = async () => {
    const { url } = await hands.look({ wanted: undefined, ...justLook })
    const site = siteOf(url)
    if (site === undefined || !sites.includes(site)) throw elsewhere(`The page is on ${site ?? "no site"}`)
  }
  return {
    ...hands,
    async navigate(url, isForeign) {
      const site = siteOf(url)
      // Written in the script, or given with its values, it is the owner's; a page may have changed its mind.
      if (isForeign && (site === undefined || !sites.includes(site)))
        throw elsewhere(`The page names ${site ?? "no site"}`)
      return await hands.navigate(url, isForeign)
    },
    async act(fields, isForeign) {
      await check()
      return await hands.act(fields, isForeign)
    },
    async answer(request, isForeign) {
      await check()
      return await hands.answer(request, isForeign)
    },
  }
}

async function keep(
  name: string,
  parts: {
    script: Script
    outcome: Outcome
    start: string
    kept: KeptScript | undefined
  } & Pick<Performing, "shelf" | "isNamed" | "keepsTriedOnly">,
): Promise<{ kept?: string; notKept?: string }> {
  const { script, outcome, shelf, isNamed, keepsTriedOnly } = parts
  if (outcome.stopped) return { notKept: "it did not come to its end" }
  if (keepsTriedOnly && outcome.untried.length > 0) {
    const steps = outcome.untried.slice(0, 10).join(", ")
    return {
      notKept: `step ${steps} was never done, and after words of others were read only what was done is kept: leave it out, or do it too`,
    }
  }
  const opens = script.written[0]?.["kind"] === "navigate"
  const start = opens ? "" : (parts.kept?.start ?? parts.start)
  if (!opens && siteOf(start) === undefined) return { notKept: "it begins on no page: begin it with navigate" }
  const left = refsIn(script.written)
  const delicate = delicateStep(script.written)
  if (left.length > 0) return { notKept: `refs end with the page: name ${left.join(", ")} by find` }
  if (delicate !== undefined) return { notKept: delicate }
  const sites = sitesOfUrls([...(opens ? [] : [start]), ...outcome.urls])
  const { reason } = await shelf.keepScript(name, {
    start,
    sites,
    named: sites.filter((site) => isNamed(site)),
    steps: script.written,
  })
  return reason === null ? { kept: nameIn(name) } : { notKept: reason }
}

const justLook = { acts: false, waitMs: 0, locators: false }

/** Where the tab is now and what it shows; the steps have been done by now, so no trouble with this ends in an error. */
async function endOf(
  core: ScriptCore,
  caller: Caller,
  targetId: string,
  wanted: "diff" | "efficient",
): Promise<{ targetId: string; url: string; title: string } & FreshSnapshot> {
  try {
    const request = parseRequest(snapshotRequest, { targetId, mode: "efficient", diff: wanted === "diff" })
    const reply = await core.snapshot(caller, request)
    const { url, title } = reply
    return {
      targetId,
      url,
      title,
      ...("snapshot" in reply ? { snapshot: reply.snapshot, truncated: reply.truncated } : {}),
    }
  } catch (error) {
    if (!(error instanceof AppError) || caller.signal?.aborted) throw error
    const { tabs } = await core.tabs(caller)
    const tab = tabs.find((each) => each.targetId === targetId)
    return {
      targetId,
      url: tab?.url ?? "",
      title: tab?.title ?? "",
      snapshot: tab ? `(no snapshot: ${error.message})` : "(the tab is closed)",
      truncated: false,
    }
  }
}
