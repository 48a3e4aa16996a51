// The browsers of a node with the functions of our own, as far as the agent's tool uses them: each is the request of the control
// service that does the same.
import { readFile, stat } from "node:fs/promises"
import { extname } from "node:path"
import { AppError, type Json, type JsonObject, isJsonObject } from "../../kernel/index.ts"
import type { BrowserConfig } from "../config.ts"
import type { BrowserCore, Caller } from "../core.ts"
import { copyToMedia } from "../media.ts"
import type { Method } from "../routes/route.ts"
import type { DownloadReply } from "../files/operations.ts"
import { type LookRequest, lookReply } from "../script/elements.ts"
import { type ProxyOptions, lookThroughNode, throughNode } from "./proxy.ts"

/** What the tool does with a browser, wherever that is. */
export type ToolCore = Pick<
  BrowserCore,
  | "act"
  | "answerDialog"
  | "chooseFiles"
  | "close"
  | "console"
  | "download"
  | "errors"
  | "extension"
  | "focus"
  | "look"
  | "navigate"
  | "open"
  | "pdf"
  | "placeApart"
  | "profiles"
  | "requests"
  | "screenshot"
  | "secretNames"
  | "shownAt"
  | "showsLink"
  | "sitesOf"
  | "snapshot"
  | "start"
  | "status"
  | "stop"
  | "tabs"
  | "takeoverTab"
  | "waitDownload"
>

/** As in `files/operations`. */
const maxSendableBytes = 50 * 1024 * 1024

export function createNodeCore(options: ProxyOptions & { settings: BrowserConfig }, node: string): ToolCore {
  async function ask<Reply>(method: Method, path: string, caller: Caller, fields: object = {}): Promise<Reply> {
    // Only JSON travels; what is not set is not there.
    const plain = JSON.parse(JSON.stringify(fields)) as JsonObject
    const isPost = method === "POST"
    const request = { method, path, query: isPost ? {} : wordsOf(plain), body: isPost ? plain : {} }
    return (await throughNode(options, node, request, caller)) as Reply
  }
  const fetchFile = async (path: string, caller: Caller, { sendable, ...fields }: { sendable?: boolean }) => {
    const reply = await ask<DownloadReply>("POST", path, caller, fields)
    const from = reply.download.path
    const isSendable = sendable === true && (await stat(from)).size <= maxSendableBytes
    if (!isSendable) return reply
    return { ...reply, mediaPath: await copyToMedia(options, from, extname(from).slice(1, 6) || "bin") }
  }
  return {
    status: (caller) => ask("GET", "/", caller),
    profiles: (caller = { profile: undefined }) => ask("GET", "/profiles", caller),
    start: (caller) => ask("POST", "/start", caller),
    stop: (caller) => ask("POST", "/stop", caller),
    tabs: (caller) => ask("GET", "/tabs", caller),
    open: (caller, request) => ask("POST", "/tabs/open", caller, request),
    focus: (caller, targetId) => ask("POST", "/tabs/focus", caller, { targetId }),
    close: (caller, targetId) => ask("POST", "/act", caller, { kind: "close", targetId }),
    navigate: (caller, request) => ask("POST", "/navigate", caller, request),
    act: (caller, request) => ask("POST", "/act", caller, request),
    console: (caller, request) => ask("GET", "/console", caller, request),
    errors: (caller, request) => ask("GET", "/errors", caller, request),
    requests: (caller, request) => ask("GET", "/requests", caller, request),
    pdf: (caller, request) => ask("POST", "/pdf", caller, request),
    chooseFiles: (caller, request) => ask("POST", "/hooks/file-chooser", caller, request),
    answerDialog: (caller, request) => ask("POST", "/hooks/dialog", caller, request),
    download: (caller, request) => fetchFile("/download", caller, request),
    waitDownload: (caller, request) => fetchFile("/wait/download", caller, request),
    extension: (caller = { profile: undefined }) => ask("GET", "/extension", caller),
    // The node itself puts a guest who names no profile apart.
    placeApart: () => undefined,
    async snapshot(caller, request, usual = "full") {
      const mode = request.mode === "default" ? (options.settings.snapshotDefaults.mode ?? usual) : request.mode
      const reply = await ask<Awaited<ReturnType<BrowserCore["snapshot"]>>>("GET", "/snapshot", caller, {
        ...request,
        mode,
      })
      if (reply.format === "aria" || reply.imagePath === undefined) return reply
      const data = await readFile(reply.imagePath, "base64")
      return { ...reply, image: { type: reply.imageType ?? "png", data } as NonNullable<typeof reply.image> }
    },
    async screenshot(caller, request) {
      const reply = await ask<Awaited<ReturnType<BrowserCore["screenshot"]>>>("POST", "/screenshot", caller, request)
      return { ...reply, data: await readFile(reply.path, "base64") }
    },
    // They stay on the gateway's machine.
    secretNames: async () => [],
    async takeoverTab() {
      throw new AppError("profile-unsupported", "Tabs of another machine are not handed over", {
        hint: "Ask the person to do it at that machine",
      })
    },
    async shownAt(caller, targetId, refs) {
      const body = JSON.parse(JSON.stringify({ targetId, refs })) as JsonObject
      const { page, elements } = await lookThroughNode(options, node, "/look/elements", { body, caller })
      if (typeof page === "string" && Array.isArray(elements) && elements.every((each) => isJsonObject(each))) {
        return { page, elements: elements as JsonObject[] }
      }
      throw new AppError("node-failed", "The node has not said what its page shows")
    },
    look: (caller, request) => lookForWords(options, node, caller, request),
    async showsLink(caller, address, targetId) {
      const body = targetId === undefined ? { address } : { address, targetId }
      const { shows } = await lookThroughNode(options, node, "/look/link", { body, caller })
      return shows === true
    },
    async sitesOf(caller, { targetId, refs, anywhere }) {
      const body = JSON.parse(JSON.stringify({ targetId, refs, anywhere })) as JsonObject
      const { sites } = await lookThroughNode(options, node, "/look/sites", { body, caller })
      if (Array.isArray(sites) && sites.every((site: Json) => typeof site === "string")) return sites as string[]
      throw new AppError("node-failed", "The node has not said which sites its page shows")
    },
  }
}

async function lookForWords(options: ProxyOptions, node: string, caller: Caller, request: LookRequest) {
  const body = JSON.parse(JSON.stringify(request)) as JsonObject
  const parsed = lookReply.safeParse(await lookThroughNode(options, node, "/look/words", { body, caller }))
  if (parsed.success) return parsed.data
  throw new AppError("node-failed", "The node has not said what its page shows", { cause: parsed.error })
}

function wordsOf(fields: JsonObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  )
}
