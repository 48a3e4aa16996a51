// A person's own browser with the real extension in it: Chromium driven through a pipe that nothing of the product knows of.
// The person opens pages, presses the button, kills the extension's worker, and looks at the badge.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { Readable, Writable } from "node:stream"
import { buildExtension } from "../../scripts/build-extension.ts"
import { CdpConnection, type CdpSession, overPipe } from "../../src/browser/cdp/index.ts"
import { extensionId } from "../../src/browser/relay/contract.ts"
import { quietArguments } from "./chromium.ts"
import { temporaryFolder } from "./temporary.ts"

const root = join(import.meta.dirname, "..", "..")

interface Target {
  targetId: string
  type: string
  url: string
  attached: boolean
}

export interface PersonBrowser {
  browser: CdpSession
  /** With `DevToolsActivePort` in it. */
  dataFolder: string
  /** Opens a page, and waits until it has loaded. Gives its targetId. */
  open(url: string): Promise<string>
  /** Presses the extension's button while this page is in front. */
  press(targetId: string): Promise<void>
  /** What stands on the button for this page, and what it tells whoever rests the mouse on it. */
  badge(targetId: string): Promise<{ text: string; title: string }>
  /** Looks until the badge is this, and its words match. */
  waitForBadge(targetId: string, text: string, title?: RegExp): Promise<void>
  /** Runs code in the page, as its own scripts do. */
  inPage<Value>(targetId: string, expression: string): Promise<Value>
  /** Runs code in the extension's options page. */
  inOptions<Value>(expression: string): Promise<Value>
  /** What the person types and chooses in the options. */
  change(change: Record<string, unknown>): Promise<void>
  pair(code: string): Promise<void>
  /** Ends the worker as Chrome does; resolves when it is gone. */
  killWorker(): Promise<void>
  targets(): Promise<Target[]>
  close(targetId: string): Promise<void>
  freeze(): void
  thaw(): void
  stop(): Promise<void>
}

export async function startPersonBrowser(): Promise<PersonBrowser> {
  const folder = temporaryFolder()
  const extension = join(folder, "extension")
  await buildExtension(root, extension)
  const child = spawn(
    process.env["SVC_TEST_BROWSER"] ?? "chromium",
    [
      "--remote-debugging-pipe",
      // Also by its own permission, which a person gives in chrome://inspect.
      "--remote-debugging-port=0",
      "--enable-unsafe-extension-debugging",
      `--user-data-dir=${join(folder, "data")}`,
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      ...quietArguments,
      "--disable-dev-shm-usage",
      "--site-per-process",
      "about:blank",
    ],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], detached: true },
  )
  const [, , , toBrowser, fromBrowser] = child.stdio
  const connection = new CdpConnection(overPipe(toBrowser as Writable, fromBrowser as Readable))
  const browser = connection.root
  const { id } = await browser.send<{ id: string }>("Extensions.loadUnpacked", { path: extension })
  if (id !== extensionId) throw new Error(`the extension has the id ${id}`)
  const sessions = new Map<string, CdpSession>()
  const session = async (targetId: string): Promise<CdpSession> => {
    const known = sessions.get(targetId)
    if (known) return known
    const { sessionId } = await browser.send<{ sessionId: string }>("Target.attachToTarget", {
      targetId,
      flatten: true,
    })
    sessions.set(targetId, connection.session(sessionId))
    return connection.session(sessionId)
  }
  const evaluate = async <Value>(targetId: string, expression: string): Promise<Value> => {
    const { result, exceptionDetails } = await (
      await session(targetId)
    ).send<{ result: { value: Value }; exceptionDetails?: { exception?: { description?: string } } }>(
      "Runtime.evaluate",
      {
        expression,
        awaitPromise: true,
        returnByValue: true,
        userGesture: true,
      },
    )
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description)
    return result.value
  }
  const targets = async () => {
    const { targetInfos } = await browser.send<{ targetInfos: Target[] }>("Target.getTargets", { filter: [{}] })
    return targetInfos
  }
  const until = async <Value>(what: string, probe: () => Promise<Value | undefined>): Promise<Value> => {
    for (let tries = 0; tries < 400; tries += 1) {
      const value = await probe()
      if (value !== undefined) return value
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
    throw new Error(`never: ${what}`)
  }
  const open = async (url: string) => {
    const { targetId } = await browser.send<{ targetId: string }>("Target.createTarget", { url })
    await until(
      `${url} loads`,
      async () =>
        (await evaluate(targetId, "document.readyState === 'complete' && location.href !== 'about:blank'")) ||
        undefined,
    )
    return targetId
  }
  let options: string | undefined
  const inOptions = async <Value>(expression: string): Promise<Value> => {
    options ??= await open(`chrome-extension://${extensionId}/options.html`)
    return evaluate<Value>(options, expression)
  }
  const tabOf = (targetId: string) =>
    inOptions<number>(
      `chrome.debugger.getTargets().then((all) => all.find(({ id }) => id === ${JSON.stringify(targetId)})?.tabId)`,
    )
  const badge = async (targetId: string) => {
    const tabId = await tabOf(targetId)
    return inOptions<{ text: string; title: string }>(
      `Promise.all([chrome.action.getBadgeText({ tabId: ${tabId} }), chrome.action.getTitle({ tabId: ${tabId} })]).then(([text, title]) => ({ text, title }))`,
    )
  }
  const ask = async (message: unknown) => {
    const answer = await inOptions<{ error?: string }>(`chrome.runtime.sendMessage(${JSON.stringify(message)})`)
    if (answer.error !== undefined) throw new Error(answer.error)
  }
  const signal = (name: NodeJS.Signals) => process.kill(-(child.pid as number), name)
  return {
    browser,
    dataFolder: join(folder, "data"),
    open,
    targets,
    badge,
    inPage: evaluate,
    inOptions,
    async press(targetId) {
      // Its tab target is the one above it.
      await browser.send("Target.activateTarget", { targetId })
      const tabTarget = await (
        await session(targetId)
      ).send<{ targetInfo: { parentId?: string } }>("Target.getTargetInfo")
      const id = tabTarget.targetInfo.parentId ?? (await tabTargetOf(browser, targetId))
      await browser.send("Extensions.triggerAction", { id: extensionId, targetId: id })
    },
    async waitForBadge(targetId, text, title = /(?:)/) {
      await until(`the badge ${text} ${title}`, async () => {
        const now = await badge(targetId)
        return (now.text === text && title.test(now.title)) || undefined
      })
    },
    change: (change) => ask({ type: "change", change }),
    pair: (code) => ask({ type: "change", change: { code } }),
    async killWorker() {
      const isWorker = ({ type, url }: Target) => type === "service_worker" && url.includes(extensionId)
      const worker = await until("a worker", async () => (await targets()).find(isWorker))
      await browser.send("Target.closeTarget", { targetId: worker.targetId })
      await until("the worker ends", async () =>
        (await targets()).some(({ targetId }) => targetId === worker.targetId) ? undefined : true,
      )
    },
    close: async (targetId) => void (await browser.send("Target.closeTarget", { targetId })),
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    async stop() {
      const gone = child.exitCode === null ? once(child, "exit") : undefined
      signal("SIGKILL")
      await gone
    },
  }
}

/** Tabs by the page that they show, where the browser does not say it of the page. */
async function tabTargetOf(browser: CdpSession, targetId: string): Promise<string> {
  const { targetInfos } = await browser.send<{ targetInfos: Target[] }>("Target.getTargets", { filter: [{}] })
  const page = targetInfos.find((target) => target.targetId === targetId)
  const tab = targetInfos.filter(({ type }) => type === "tab").findLast(({ url }) => url === page?.url)
  if (!tab) throw new Error("the page has no tab")
  return tab.targetId
}
