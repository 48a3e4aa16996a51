// Commands that show a page or send it somewhere.
import { AppError } from "../../kernel/errors.ts"
import type { AriaReply, NavigateReply, ScreenshotReply, SnapshotReply } from "../contract.ts"
import { type CommandSpec, freshMode, freshWords, pageMs, plain, type Run, snapshotFlag, startMs } from "./command.ts"

export const pageCommands: CommandSpec[] = [
  {
    usage: "navigate <url>",
    description: "Send a tab to a URL and wait until it has loaded",
    example: "svc browser navigate https://example.com",
    json: "NavigateReply",
    tab: true,
    flags: [snapshotFlag],
    perform: async ({ send, io, options }, url) => {
      const reply = await send<NavigateReply>("POST", "/navigate", {
        body: { url, targetId: options.targetId, snapshot: freshMode(options) },
        timeoutMs: startMs,
      })
      return { reply, show: () => io.print(`navigated to ${plain(reply.url)}${freshWords(reply)}`) }
    },
  },
  {
    usage: "snapshot",
    description: "Print the page as text, with refs of what can be acted on",
    example: "svc browser snapshot --interactive",
    json: "SnapshotAnswer",
    tab: true,
    flags: [
      ["--format <format>", "ai: text with refs; aria: the browser's accessibility tree", ["ai", "aria"]],
      ["--limit <n>", "at most so many lines, or nodes with --format aria (default 500)"],
      ["--interactive", "only elements that can be acted on"],
      ["--compact", "without structure that says nothing"],
      ["--depth <n>", "nesting past which nothing is shown"],
      ["--mode <mode>", "how much: all, or what is needed to act", ["full", "efficient"]],
      ["--efficient", "short: controls and headings, long runs counted"],
      ["--selector <css>", "only inside this element"],
      ["--frame <css>", "only inside this frame element"],
      ["--labels", "also save a picture of the view with the refs drawn over it"],
      ["--diff", "only what has changed since the last snapshot of this tab"],
      ["--max-chars <n>", "cut the text at this length; 0 never cuts (default 80000)"],
      ["--max-tokens <n>", "fit the text into a budget, dropping the least useful first"],
      ["--out <file>", "write the snapshot to a file and print its path"],
    ],
    perform: async (run) => showSnapshot(run, {}),
  },
  {
    usage: "find <words>",
    description: "Print the elements of a page that have this role or hold these words, with their refs",
    example: 'svc browser find "add to basket"',
    json: "SnapshotReply",
    tab: true,
    perform: async (run, words) => showSnapshot(run, { find: words }),
  },
  {
    usage: "screenshot",
    description: "Save a picture of the page and print where",
    example: "svc browser screenshot --full-page",
    json: "ScreenshotReply",
    tab: true,
    flags: [
      ["--full-page", "the whole page, not only the view"],
      ["--ref <ref>", "only this element"],
      ["--element <css>", "only the one element that this CSS selector fits"],
      ["--labels", "the view with refs drawn over it"],
      ["--type <type>", "kind of picture (default png)", ["png", "jpeg"]],
    ],
    perform: async ({ send, io, options }) => {
      const { targetId, fullPage, ref, element, labels, type } = options
      const reply = await send<ScreenshotReply>("POST", "/screenshot", {
        body: { targetId, fullPage, ref, element, labels, type },
        timeoutMs: pageMs,
      })
      return { reply, show: () => io.print(`MEDIA:${reply.path}`) }
    },
  },
  {
    usage: "dialog",
    description: "Answer the question that a page asks, or the next one that it will ask",
    example: "svc browser dialog --accept",
    json: "DialogReply",
    tab: true,
    flags: [
      ["--accept", "OK"],
      ["--dismiss", "Cancel"],
      ["--prompt <text>", "answer to a prompt"],
    ],
    perform: async ({ send, io, options }) => {
      const { accept, dismiss, prompt, targetId } = options
      if ((accept === true) === (dismiss === true))
        throw new AppError("bad-request", "Give either --accept or --dismiss")
      const reply = await send<{ armed?: true }>("POST", "/hooks/dialog", {
        body: { accept: accept === true, promptText: prompt, targetId },
      })
      return { reply, show: () => io.print(reply.armed ? "dialog armed" : "dialog answered") }
    },
  },
]

async function showSnapshot({ send, io, options }: Run, more: { find?: string | undefined }) {
  const { targetId, interactive, compact, depth, selector, frame, labels, diff, maxChars, maxTokens, format, limit } =
    options as Record<string, string | undefined>
  const shape = { interactive, compact, depth, selector, frame, labels, format, ...more }
  const plainly = Object.values(shape).every((value) => value === undefined)
  const mode = options["mode"] ?? (options["efficient"] ? "efficient" : plainly ? "default" : undefined)
  const reply = await send<SnapshotReply | AriaReply>("GET", "/snapshot", {
    query: { ...shape, targetId, diff, maxChars, maxTokens, limit, mode: mode as string | undefined },
    timeoutMs: pageMs,
  })
  const text = reply.format === "aria" ? reply.nodes.map(ariaLine).join("\n") : reply.snapshot
  const { out } = options
  if (typeof out === "string") {
    const { writeFile } = await import("node:fs/promises")
    await writeFile(out, reply.format === "aria" ? JSON.stringify(reply, null, 2) : `${text}\n`)
  }
  const show = () => {
    io.print(typeof out === "string" ? out : text)
    if (reply.format === "ai" && reply.imagePath !== undefined) io.print(`MEDIA:${reply.imagePath}`)
  }
  return { reply, show }
}

function ariaLine(node: AriaReply["nodes"][number]): string {
  const name = node.name === "" ? "" : ` ${JSON.stringify(node.name)}`
  const value = node.value === undefined ? "" : ` = ${JSON.stringify(node.value)}`
  return `${"  ".repeat(Math.min(20, node.depth))}- ${node.role}${name}${value}`
}
