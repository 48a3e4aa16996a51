// Approvals with what they need of the rest: the chat in which an owner is asked, and the turn that is told the answer.
import { approvalTurn, isByPolicy, liveTimeText } from "../agent/index.ts"
import type { TurnInput } from "../agent/turn-input.ts"
import { type Approvals, type Decided, createApprovals } from "../approvals/index.ts"
import type { Channel } from "../channels/contract.ts"
import type { ChannelSender, ReplyButton } from "../delivery/contract.ts"
import { isToolChange } from "../mcp/index.ts"
import type { Route, Sessions } from "../sessions/index.ts"
import type { ApprovalRow, Write } from "../store/index.ts"
import type { Core } from "./core.ts"
import { ownersChat } from "./owners-chat.ts"

export interface ApprovalParts {
  sessions: Sessions
  channels: () => ReadonlyMap<string, Channel>
  /** Channels and terminals. */
  senders: () => ReadonlyMap<string, ChannelSender>
}

const minuteMs = 60_000

export function composeApprovals(core: Core, parts: ApprovalParts): Approvals {
  const { store, clock, ids, log } = core
  const timeText = liveTimeText(() => core.config().agents.defaults)
  return createApprovals({
    store,
    clock,
    ids,
    log: log.child({ part: "approvals" }),
    validMs: () => core.config().approvals.validMinutes * minuteMs,
    tell: (write, row) => tell(core, parts, write, { row, until: timeText(row.expires_at) }),
    resume: (write, row) => void write.addJob(approvalTurn(ids.uuid(), row, timeText)),
  })
}

function tell(
  core: Core,
  parts: ApprovalParts,
  write: Write,
  { row, until }: { row: ApprovalRow; until: string },
): boolean {
  const route = ownersRoute(parts, row)
  const sender = route && parts.senders().get(route.channel)
  if (!route || !sender) return false
  const buttons: ReplyButton[][] = [
    [
      { text: "Allow once", data: `/approve allow ${row.id}`, style: "success", runs: true },
      { text: "Deny", data: `/approve deny ${row.id}`, style: "danger", runs: true },
    ],
  ]
  const canTouch = parts.channels().get(route.channel)?.commands.canShowButtons(route) ?? false
  const typed = canTouch ? "" : `\n\nAnswer with \`/approve allow ${row.id}\` or \`/approve deny ${row.id}\`.`
  const why = isToolChange(row)
    ? ""
    : isByPolicy(row)
      ? " You want to be asked before I do this."
      : " I have read words of others, so I do not do this by myself."
  const text = `**May I?**${why}\n\n${core.redactor.hideRegistered(row.text)}\n\nIt counts once, for exactly this. The question stands until ${until}.${typed}`
  const rows = sender.plan(route, { text, media: [], noPreview: true, ...(canTouch ? { buttons } : {}) })
  for (const each of rows) write.addOutbox(each)
  return rows.length > 0
}

/** Where the owner is who has set off the turn, else where one was last heard from. */
function ownersRoute(parts: ApprovalParts, row: ApprovalRow): Route | undefined {
  const { origin, route } = JSON.parse(row.resume) as Pick<TurnInput, "origin" | "route">
  if (origin === "owner" && route) return route
  return ownersChat(parts, row.agent_id)
}

/** For whoever has answered. */
export function describeDecided(decided: Decided): string {
  if (decided.kind === "unknown") return "There is no such question any more."
  const [summary = ""] = decided.row.text.split("\n", 1)
  if (decided.kind === "decided") return `${decided.row.state === "allowed" ? "Allowed once" : "Denied"}: ${summary}`
  const { state } = decided.row
  return state === "asked" || state === "expired"
    ? `Too late, the time is over: ${summary}`
    : `It was answered before (${state}): ${summary}`
}
