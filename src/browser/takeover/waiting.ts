// "Take over": at a login, a second factor or a captcha the agent asks; the person gets a link to the tab, and gives it back.
// Nothing waits meanwhile but a row: who asked is told in a turn of its own.
import type { ToolContext, ToolResult } from "../../agent/tool.ts"
import { AppError } from "../../kernel/index.ts"
import type { BrowserCore, Caller } from "../core.ts"
import type { TakeoverTab } from "./operations.ts"

export interface TakeoverAsk extends TakeoverTab {
  reason: string
}

/** Where waits are kept; durable. */
export interface TakeoverWaits {
  /** `told`: a person has the link. Asked for already, nothing changes. Throws `conflict` where no link can be made. */
  ask(context: ToolContext, ask: TakeoverAsk): Promise<{ until: string; told: boolean }>
}

const mostReason = 300

export async function askForHands(
  core: Pick<BrowserCore, "takeoverTab">,
  waits: TakeoverWaits | undefined,
  { context, caller }: { context: ToolContext; caller: Caller },
  { targetId, reason }: { targetId?: unknown; reason?: unknown },
): Promise<ToolResult> {
  if (!context.trusted)
    throw new AppError("forbidden", "A turn that acts for others does not hand tabs to anybody", {
      hint: "Say what could not be done",
    })
  if (!waits) throw new AppError("not-ready", "Nobody can be asked here")
  const tab = await core.takeoverTab(caller, typeof targetId === "string" ? targetId : undefined)
  const words = typeof reason === "string" ? reason.trim().slice(0, mostReason) : ""
  const { until, told } = await waits.ask(context, { ...tab, reason: words })
  const how = told
    ? "The person has been sent a link to this tab."
    : "There is no private chat to send the link to; it is printed by: svc browser takeover"
  return {
    content: [{ type: "text", text: JSON.stringify({ waiting: true, targetId: tab.targetId }) }],
    note: `${how} It can be used until ${until}. End now by saying what you are waiting for: you will be told in a turn of its own when the tab is given back, or that the time is over. Do not wait and do not try again.`,
  }
}
