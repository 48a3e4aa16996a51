// Approvals with what they need of the rest: the chat in which an owner is asked, and the turn that is told the answer.
import { type AnswerWords, approvalTurn, isByPolicy, liveTimeText } from "../agent/index.ts"
import type { TurnInput } from "../agent/turn-input.ts"
import { type Approvals, type Decided, createApprovals, questionInMarkdown } from "../approvals/index.ts"
import type { Channel } from "../channels/contract.ts"
import type { ChannelSender, ReplyButton } from "../delivery/contract.ts"
import { type McpServers, isToolChange, readToolChange } from "../mcp/index.ts"
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

/** Whose tools they are. */
export type ToolChanges = Pick<McpServers, "acceptChange" | "reread">

const minuteMs = 60_000

export function composeApprovals(core: Core, parts: ApprovalParts & { toolChanges: () => ToolChanges }): Approvals {
  const { store, clock, ids, log } = core
  const timeText = liveTimeText(() => core.config().agents.defaults)
  const approvals = createApprovals({
    store,
    clock,
    ids,
    log: log.child({ part: "approvals" }),
    validMs: () => core.config().approvals.validMinutes * minuteMs,
    tell: (write, row) => tell(core, parts, write, { row, until: timeText(row.expires_at) }),
    resume(write, row) {
      const words = isToolChange(row) ? changeWords(row) : undefined
      write.addJob(approvalTurn(ids.uuid(), row, timeText, words))
    },
    fulfil(write, row) {
      if (!isToolChange(row)) return false
      parts.toolChanges().acceptChange(write, readToolChange(row.action))
      return true
    },
  })
  return {
    ...approvals,
    async decide(...decision) {
      try {
        return await approvals.decide(...decision)
      } finally {
        parts.toolChanges().reread()
      }
    },
  }
}

const changeTold = {
  allowed:
    "Your owner has accepted that the tool below has changed. It was not called: if it is still needed, call it in the form that it has now, and go on with what it was for.",
  denied:
    "Your owner has not accepted that the tool below has changed, so it is not called. Do not try it again; say in one short message what was not done.",
  expired:
    "Nobody has answered in time whether the tool below may be what it is now, so it was not called. Say so in one short message.",
}

/** What the server says of its tool is shown only where an owner has accepted it. */
function changeWords({ tool, action }: ApprovalRow): (outcome: keyof typeof changeTold) => AnswerWords {
  const { now } = readToolChange(action)
  return (outcome) => ({
    told: changeTold,
    label: "The tool:",
    text: outcome === "allowed" ? JSON.stringify({ tool, ...now }) : tool,
  })
}

/** Accepted by hand meanwhile: what was asked about tools of that server is answered by it. */
export async function closeToolChanges(approvals: Approvals, server: string): Promise<void> {
  const { approvals: open } = approvals.list({ state: "asked", limit: 100 })
  for (const { id, tool } of open) {
    const action = JSON.stringify(approvals.read(id).action)
    if (!isToolChange({ tool, action }) || readToolChange(action).server !== server) continue
    await approvals.decide(id, "allow", "mcp accept")
  }
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
  const text = `**May I?**${why}\n\n${core.redactor.hideRegistered(questionInMarkdown(row.text))}\n\nIt counts once, for exactly this. The question stands until ${until}.${typed}`
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
