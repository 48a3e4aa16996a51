// "Use my tab": the agent asks for a tab, the person presses the button in it, and the turn goes on. Nothing waits meanwhile
// but a row: who asked is told in a turn of its own, when the tab is there or when the time is over.
import type { ToolContext, ToolResult } from "../../agent/tool.ts"
import { AppError } from "../../kernel/index.ts"
import type { ExtensionStatus } from "../contract.ts"
import { notPaired } from "./profile.ts"

/** A tab that the person has attached. */
export interface PersonTab {
  targetId: string
  title: string
  url: string
}

/** Where waits are kept; durable. */
export interface TabWaits {
  /** Keeps that this turn's session waits for a tab. Gives until when; waiting already changes nothing. */
  ask(context: ToolContext, validMs: number): Promise<number>
  /** Tells all who wait. */
  attached(tab: PersonTab): Promise<void>
}

const usualMs = 15 * 60_000
const leastMs = 60_000
const mostMs = 60 * 60_000

export async function askForTab(
  status: ExtensionStatus,
  waits: TabWaits | undefined,
  context: ToolContext,
  wantedMs: unknown,
): Promise<ToolResult> {
  const { trusted, origin, route } = context
  // Their browser, their button: nobody else can be asked, and nobody else is told what is on their screen.
  if (!trusted || origin !== "owner" || (route && route.chatKind !== "private"))
    throw new AppError("forbidden", "Only for an owner, in a private chat, a tab of their own browser is asked for")
  const tabs = status.tabs.filter(({ by }) => by === "person")
  if (tabs.length > 0) {
    const note = "Attached already. Use them with profile relay; a snapshot shows what is there."
    return { content: [{ type: "text", text: JSON.stringify({ tabs }) }], note }
  }
  if (!status.paired) throw notPaired()
  if (!waits || !route) throw new AppError("relay-no-tab", "No tab is attached", { hint: "Ask for it in the chat" })
  const asked = typeof wantedMs === "number" && Number.isFinite(wantedMs) ? wantedMs : usualMs
  const validMs = Math.min(mostMs, Math.max(leastMs, asked))
  await waits.ask(context, validMs)
  const minutes = Math.max(1, Math.round(validMs / 60_000))
  return {
    content: [{ type: "text", text: JSON.stringify({ waiting: true, minutes }) }],
    note: `No tab is attached yet. End now by telling the person this: open the page in your browser, go to its tab, and press the button of the "svc relay" extension in the toolbar (it may be behind the puzzle piece) until it shows ON; there are ${minutes} minutes for it. You will be told in a turn of its own when the tab is there, or that the time is over: do not wait and do not try again.`,
  }
}
