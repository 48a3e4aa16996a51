// Who brings a link to a tab: the tab is looked for before the link is used up, so that of one which is gone it can be said what
// became of it, and its page be opened again by the same link.
import type { BrowserService, Takeover } from "../browser/index.ts"
import type { TakeoverDesk } from "../gateway/index.ts"
import { AppError, type Log, describeError } from "../kernel/index.ts"
import type { TakeoverRow, Takeovers } from "../takeovers/index.ts"

export interface ClaimParts {
  takeovers: Takeovers
  browser: () => BrowserService
  hands: (row: TakeoverRow) => Promise<Takeover>
  release: (id: string) => Promise<void>
  /** When this process has begun, in milliseconds since the epoch: browsers of before have ended with the one before. */
  startedAt: number
  timeText: (ms: number) => string
  log: Log
}

/** By this name the rows know a sandboxed session's own browser. */
export const sandboxProfile = "sandbox"

/** What says that there is no tab any more, and none to be waited for. */
export const goneCodes: ReadonlySet<string> = new Set([
  "tab-not-found",
  "browser-not-running",
  "browser-lost",
  "browser-unreachable",
])

/** What somebody brings; see `TakeoverDesk`. */
interface Brought {
  token: string
  again: boolean
  key: string | undefined
}

export async function claimLink(
  parts: ClaimParts,
  { token, again, key }: Brought,
): Promise<Awaited<ReturnType<TakeoverDesk["claim"]>>> {
  const { takeovers, hands, release } = parts
  const linked = takeovers.linked(token)
  if (!linked) return undefined
  if (linked.state === "gone") {
    if (again && pageOf(linked) !== undefined) return await openAgain(parts, { token, key }, linked)
    throw goneError(parts, linked)
  }
  try {
    await hands(linked)
  } catch (error) {
    if (error instanceof AppError && goneCodes.has(error.code)) throw goneError(parts, linked)
    throw error
  }
  const claimed = await takeovers.claim(token, key)
  if (!claimed) {
    // Its time was over meanwhile; else somebody else was faster, and has it.
    if (!takeovers.open().some(({ id, state }) => id === linked.id && state === "open")) await release(linked.id)
    return undefined
  }
  return shown(claimed)
}

/** The tab that a key is for; undefined for a key that is for nothing any more. Throws `tab-gone`, `tab-not-found`. */
export async function openHands(parts: ClaimParts, key: string): Promise<Awaited<ReturnType<TakeoverDesk["find"]>>> {
  const row = parts.takeovers.find(key)
  const lost = row ? undefined : parts.takeovers.linked(key)
  if (lost?.state === "gone") throw goneError(parts, lost)
  if (!row) return undefined
  try {
    return { id: row.id, reason: row.reason, expiresAt: row.expires_at, hands: await parts.hands(row) }
  } catch (error) {
    if (error instanceof AppError && goneCodes.has(error.code)) throw goneError(parts, row)
    throw error
  }
}

const shown = ({ row, key }: { row: TakeoverRow; key: string }) => ({
  id: row.id,
  key,
  reason: row.reason,
  expiresAt: row.expires_at,
})

/** The same wait, for a new tab with the same page: whoever asked is told of that one when it is given back. */
async function openAgain(
  { takeovers, browser, hands }: ClaimParts,
  { token, key }: Omit<Brought, "again">,
  gone: TakeoverRow,
) {
  const url = pageOf(gone) as string
  const { profile, targetId } = await browser().openAgain(gone.profile ?? "", url)
  const row = await takeovers.claimGone(token)
  if (!row) return undefined
  const { run_id: runId, session_key: sessionKey, resume, reason } = row
  const turn =
    runId === null || sessionKey === null
      ? undefined
      : { runId, sessionKey, resume: JSON.parse(resume ?? "{}") as object }
  const made = await takeovers.create({ turn: turn as never, profile, targetId, reason, url })
  const claimed = await takeovers.claim(made.token, key)
  if (!claimed) return undefined
  await hands(claimed.row)
  return shown(claimed)
}

/** The address that can be opened again; undefined where nobody knows it. */
function pageOf({ resume, profile }: TakeoverRow): string | undefined {
  if (resume === null || profile === sandboxProfile) return undefined
  const { url } = JSON.parse(resume) as { url?: string }
  return url !== undefined && /^https?:/.test(url) ? url : undefined
}

/** What became of it, as far as it is known. */
export function whyGone({ startedAt, timeText }: Pick<ClaimParts, "startedAt" | "timeText">, row: TakeoverRow): string {
  return row.asked_at < startedAt
    ? `the gateway was started anew at ${timeText(startedAt)}, and its browser ended with it`
    : "it was closed, or its browser has ended"
}

function goneError(parts: ClaimParts, row: TakeoverRow): AppError {
  const message = `The tab of this link is gone: ${whyGone(parts, row)}`
  const agent = row.session_key === null ? "" : "Your agent has been told. "
  return pageOf(row) === undefined
    ? new AppError("tab-not-found", message, {
        hint: `${agent}Open its page again and make a new link: svc browser takeover`,
      })
    : new AppError("tab-gone", message, {
        hint: `${agent}Its page can be opened again here, and be yours; what was typed into it is lost`,
      })
}

/** After a start: whoever asked for hands on a tab that has ended with the process before is told now, and not by the clock. */
export async function endLostTakeovers({ takeovers, browser, log }: ClaimParts): Promise<void> {
  for (const { id, profile, target_id: targetId } of takeovers.open()) {
    if (profile === sandboxProfile || profile === null) continue
    try {
      await browser().takeoverTab(profile, targetId)
    } catch (error) {
      // One elsewhere may only be late.
      const isLost =
        error instanceof AppError && (error.code === "browser-not-running" || error.code === "tab-not-found")
      if (isLost) await takeovers.end(id, "gone")
      else log.info({ takeover: id, reason: describeError(error) }, "tab of a takeover not looked for")
    }
  }
}
