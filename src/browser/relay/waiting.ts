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

/** Another machine whose person is asked. */
export interface TabNode {
  id: string
  /** As the owner calls it. */
  name: string
}

/** Where waits are kept; durable. */
export interface TabWaits {
  /**
   * Keeps that this turn's session waits for a tab, on this machine or on a node. Gives until when; waiting for the same
   * already changes nothing, and a session waits in one place at a time.
   */
  ask(context: ToolContext, validMs: number, node?: TabNode): Promise<number>
  /** Tells all who wait for a tab on this machine, or on that node. */
  attached(tab: PersonTab, node?: Pick<TabNode, "id">): Promise<void>
}

const usualMs = 15 * 60_000
const leastMs = 60_000
const mostMs = 60 * 60_000

/** Those in which the person has pressed the button. */
export function personTabs({ tabs }: Pick<ExtensionStatus, "tabs">): PersonTab[] {
  return tabs
    .filter(({ by }) => by === "person")
    .map(({ targetId, title, url }) => ({ targetId, title: title.slice(0, 300), url: url.slice(0, 2_000) }))
}

/** `status` is that of the node, where one is given. */
export async function askForTab(
  status: ExtensionStatus,
  waits: TabWaits | undefined,
  context: ToolContext,
  { wantedMs, node }: { wantedMs: unknown; node?: TabNode | undefined },
): Promise<ToolResult> {
  const { trusted, origin, route } = context
  // Their browser, their button: nobody else can be asked, and nobody else is told what is on their screen.
  if (!trusted || origin !== "owner" || (route && route.chatKind !== "private"))
    throw new AppError("forbidden", "Only for an owner, in a private chat, a tab of their own browser is asked for")
  const tabs = personTabs(status)
  if (tabs.length > 0) {
    const where = node ? `profile relay and node ${node.name}` : "profile relay"
    const note = `Attached already. Use them with ${where}; a snapshot shows what is there.`
    return { content: [{ type: "text", text: JSON.stringify({ tabs }) }], note }
  }
  // With a code that the extension has not shown yet the person may have pasted it: pressing the button will tell.
  if (!status.paired && !status.codeWaits) throw notPaired(status, node)
  if (!waits || !route) throw new AppError("relay-no-tab", "No tab is attached", { hint: "Ask for it in the chat" })
  const asked = typeof wantedMs === "number" && Number.isFinite(wantedMs) ? wantedMs : usualMs
  const validMs = Math.min(mostMs, Math.max(leastMs, asked))
  await waits.ask(context, validMs, node)
  const minutes = Math.max(1, Math.round(validMs / 60_000))
  return {
    content: [{ type: "text", text: JSON.stringify({ waiting: true, minutes }) }],
    note: `No tab is attached yet. End now by telling the person this: open the page in your browser${node ? ` on the machine ${node.name}` : ""}, go to its tab, and press the button of the "svc relay" extension in the toolbar (it may be behind the puzzle piece) until it shows ON; there are ${minutes} minutes for it. You will be told in a turn of its own when the tab is there, or that the time is over: do not wait and do not try again.`,
  }
}
