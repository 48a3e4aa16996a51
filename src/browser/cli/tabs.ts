// Commands about tabs.
import { AppError } from "../../kernel/errors.ts"
import type { TabInfo } from "../contract.ts"
import { type CommandSpec, plain, type Run, startMs } from "./command.ts"

export const tabCommands: CommandSpec[] = [
  {
    usage: "tabs",
    description: "List the tabs",
    example: "svc browser tabs --json",
    json: "TabList",
    perform: async (run) => showTabs(run),
  },
  {
    usage: "open <url>",
    description: "Open a URL in a new tab, in the background",
    example: "svc browser open https://example.com",
    json: "TabInfo",
    perform: async ({ send, io }, url) => {
      const reply = await send<TabInfo>("POST", "/tabs/open", { body: { url }, timeoutMs: startMs })
      return { reply, show: () => io.print(`opened: ${plain(reply.url)}\nid: ${reply.targetId}`) }
    },
  },
  {
    usage: "focus <targetId>",
    description: "Bring a tab to the front",
    example: "svc browser focus 4C1F",
    json: "Done",
    perform: async ({ send, io }, targetId) => {
      const reply = await send<{ targetId: string }>("POST", "/tabs/focus", { body: { targetId }, timeoutMs: startMs })
      return { reply, show: () => io.print(`focused tab ${reply.targetId}`) }
    },
  },
  {
    usage: "close <targetId>",
    description: "Close a tab",
    example: "svc browser close 4C1F",
    json: "Done",
    perform: async (run, targetId) => closeTab(run, targetId as string),
  },
]

async function showTabs({ send, io }: Run) {
  const reply = await send<{ running: boolean; tabs: TabInfo[] }>("GET", "/tabs", { timeoutMs: startMs })
  return {
    reply,
    show: () => {
      if (reply.tabs.length === 0) io.print(reply.running ? "no tabs" : "no tabs: the browser is not running")
      for (const [index, tab] of reply.tabs.entries()) {
        io.print(`${index + 1}. ${plain(tab.title) || "(untitled)"}\n   ${plain(tab.url)}\n   id: ${tab.targetId}`)
      }
    },
  }
}

async function closeTab({ send, io }: Run, targetId: string) {
  const reply = await send<{ targetId: string }>("DELETE", `/tabs/${encodeURIComponent(targetId)}`, {
    timeoutMs: startMs,
  })
  return { reply, show: () => io.print("closed tab") }
}

export const tabByIndexCommands: CommandSpec[] = [
  {
    usage: "list",
    description: "List the tabs",
    example: "svc browser tab",
    json: "TabList",
    perform: async (run) => showTabs(run),
  },
  {
    usage: "new",
    description: "Open a blank tab",
    example: "svc browser tab new",
    json: "TabInfo",
    perform: async ({ send, io }) => {
      const reply = await send<TabInfo>("POST", "/tabs/open", { body: { url: "about:blank" }, timeoutMs: startMs })
      return { reply, show: () => io.print(`opened new tab\nid: ${reply.targetId}`) }
    },
  },
  {
    usage: "select <index>",
    description: "Bring a tab to the front, by its place in the list",
    example: "svc browser tab select 2",
    json: "Done",
    perform: async (run, index) => {
      const { targetId } = await tabAt(run, index as string)
      const reply = await run.send("POST", "/tabs/focus", { body: { targetId }, timeoutMs: startMs })
      return { reply, show: () => run.io.print(`selected tab ${index}`) }
    },
  },
  {
    usage: "close <index>",
    description: "Close a tab, by its place in the list",
    example: "svc browser tab close 2",
    json: "Done",
    perform: async (run, index) => closeTab(run, (await tabAt(run, index as string)).targetId),
  },
]

async function tabAt({ send }: Run, index: string): Promise<TabInfo> {
  const { tabs } = await send<{ tabs: TabInfo[] }>("GET", "/tabs", { timeoutMs: startMs })
  const tab = /^\d+$/.test(index) ? tabs[Number(index) - 1] : undefined
  if (tab) return tab
  throw new AppError("tab-not-found", `There is no tab ${index}; there are ${tabs.length}`, {
    hint: "List them with: svc browser tabs",
  })
}
