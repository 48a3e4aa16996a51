// The agent tool `browser`: the same operations as the control service, called in the process.
// Whatever comes from a page (text, titles, addresses) is content; our own words are the note.
import type { Tool, ToolContext, ToolResult } from "../agent/tool.ts"
import { AppError, type ErrorCode, errorTable, type JsonObject } from "../kernel/index.ts"
import type { ExtensionStatus } from "./contract.ts"
import type { Caller } from "./core.ts"
import { askForTab, type TabWaits } from "./relay/waiting.ts"
import {
  chooserRequest,
  consoleRequest,
  dialogRequest,
  downloadRequest,
  errorsRequest,
  focusRequest,
  navigateRequest,
  openRequest,
  pageOnly,
  parseAct,
  parseRequest,
  requestsRequest,
  screenshotRequest,
  snapshotRequest,
  waitDownloadRequest,
} from "./requests/index.ts"
import type { ToolCore } from "./elsewhere/core.ts"
import { type Target, type TargetOptions, findTarget } from "./sandbox/target.ts"
import { askForHands, type TakeoverWaits } from "./takeover/waiting.ts"
import { withinSites } from "./tool/address.ts"
import { describeCall } from "./tool/describe.ts"
import { heldToSites } from "./tool/gate.ts"
import {
  type BrowserToolInput,
  description,
  input,
  inputSchema,
  isScript,
  readOnly,
  requestOf,
  withUrl,
} from "./tool/input.ts"
import { callerOf, gateCall, keepSecretsHere, refuseUntrusted, sayWhere } from "./tool/rules.ts"
import type { ScriptShelf } from "./script/perform.ts"
import { performForAgent, withSteps } from "./tool/script.ts"

export type { BrowserToolInput } from "./tool/input.ts"

export function createBrowserTool(
  options: TargetOptions & {
    /** Who waits for a tab of the person's own; nobody can where it is not given. */
    tabWaits?: TabWaits | undefined
    /** Who waits until a person has done something by hand. */
    takeovers?: TakeoverWaits | undefined
  },
): Tool<BrowserToolInput> {
  return {
    name: "browser",
    description,
    input,
    inputSchema,
    output: "untrusted",
    repeatable: ({ action }) => readOnly.has(action),
    async gate(value, context) {
      return await gateCall(await findTarget(options, value, context), value, context, options.core())
    },
    async describe(value, context) {
      const target = await findTarget(options, value, context)
      const whole = isScript(value) ? await withSteps(value, options.core()) : value
      return await describeCall(target.core, whole, callerOf(value, context, target))
    },
    async run(value, context) {
      const target = await findTarget(options, value, context)
      if (value.action === "attach") return await attach(target, options.tabWaits, value, context)
      if (value.action === "takeover") {
        const caller = callerOf(value, context, target)
        return await askForHands(target.core, options.takeovers, { context, caller }, value as JsonObject)
      }
      const result = await perform(target, value, context, options.core)
      return target.node ? saidWhere(result, target.node.name) : result
    },
  }
}

async function perform(
  target: Target,
  value: BrowserToolInput,
  context: ToolContext,
  scripts: () => ScriptShelf,
): Promise<ToolResult> {
  refuseUntrusted(value, context, target)
  keepSecretsHere(value, target)
  const { core } = target
  try {
    const caller = callerOf(value, context, target)
    if (isScript(value)) return await performForAgent(target, value, context, scripts())
    if (value.action === "open") return await open(core, value, caller, context)
    if (value.action === "navigate") return await navigate(core, value, caller, context)
    return await run(core, value, await heldToSites(core, value, caller, context))
  } catch (error) {
    if (error instanceof AppError && error.code === "bad-request" && target.kind !== "node")
      throw sayWhere(error, value)
    return foreignWords(error, target, context)
  }
}

/** Throws what are words of ours. What a node says of an error are words of another machine. */
function foreignWords(error: unknown, { kind }: Target, { signal }: ToolContext): ToolResult {
  const isForeign = error instanceof AppError && (kind === "node" || pageWords.has(error.code))
  if (!isForeign || signal.aborted) throw error
  const hint = error.hint === undefined || kind === "node" ? "" : ` ${error.hint}`
  return {
    isError: true,
    note: `${error.code}: ${errorTable[error.code].meaning}${hint}`,
    content: [{ type: "text", text: error.message }],
  }
}

async function attach(
  target: Target,
  waits: TabWaits | undefined,
  value: BrowserToolInput,
  context: ToolContext,
): Promise<ToolResult> {
  const { node, core } = target
  let status: ExtensionStatus
  try {
    status = await core.extension()
  } catch (error) {
    return foreignWords(error, target, context)
  }
  const result = await askForTab(status, waits, context, { wantedMs: value["timeoutMs"], node })
  return node ? saidWhere(result, node.name) : result
}

/** Never in silence: another machine has other files, logins and a network of its own. */
function saidWhere(result: ToolResult, node: string): ToolResult {
  const where = `This was the browser of the node ${node}.`
  return { ...result, note: result.note === undefined ? where : `${where}\n${result.note}` }
}

/** Errors whose message may quote what a script of the page said: they are shown as content, not as words of ours. */
const pageWords: ReadonlySet<ErrorCode> = new Set(["evaluate-failed", "text-refused", "timeout"])

async function run(core: ToolCore, value: BrowserToolInput, caller: Caller): Promise<ToolResult> {
  switch (value.action) {
    case "takeover":
    case "attach":
    case "open":
    case "navigate":
      throw new AppError("internal", `${value.action} is answered before`)
    case "status":
      return json(await core.status(caller))
    case "profiles":
      return json(await core.profiles(caller))
    case "start":
      await core.start(caller)
      return json(await core.status(caller))
    case "stop":
      return json(await core.stop(caller))
    case "tabs":
      return json(await core.tabs(caller))
    case "focus":
      return json(await core.focus(caller, parseRequest(focusRequest, value).targetId))
    case "close":
      return json(await core.close(caller, typeof value["targetId"] === "string" ? value["targetId"] : undefined))
    case "snapshot":
      return snapshot(core, value, caller)
    case "screenshot":
      return screenshot(core, value, caller)
    case "console":
      return json(await core.console(caller, parseRequest(consoleRequest, value)))
    case "errors":
      return json(await core.errors(caller, parseRequest(errorsRequest, value)))
    case "requests":
      return json(await core.requests(caller, parseRequest(requestsRequest, value)))
    case "pdf": {
      const { path, ...reply } = await core.pdf(caller, parseRequest(pageOnly, value))
      return json(reply, `FILE:${path}\n${sendable(path, "document")}`)
    }
    case "download":
      return download(core, value, caller)
    case "act":
      return act(core, value, caller)
    case "upload":
      return json(await core.chooseFiles(caller, parseRequest(chooserRequest, value)))
    case "dialog":
      return json(await core.answerDialog(caller, parseRequest(dialogRequest, value)))
  }
}

/** Only files that such a line names may be sent by the reply. */
const sendable = (path: string, what: string) =>
  `MEDIA:${path}\nTo send this ${what}, write the line above, as it is, on a line of its own in your reply.`

const afterLoad = "Take a snapshot to read the page and to get refs of its elements."

function json(value: unknown, note?: string): ToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], ...(note === undefined ? {} : { note }) }
}

async function open(
  core: ToolCore,
  value: BrowserToolInput,
  caller: Caller,
  context: ToolContext,
): Promise<ToolResult> {
  const request = parseRequest(openRequest, withUrl(value))
  const reply = await withinSites(core, value, { caller, context }, (own) => core.open(own, request))
  return json(reply, [afterLoad, ...(await secretWords(core, caller, reply.targetId))].join(" "))
}

/** Which kept secrets the page may be given: a model that does not know of them would ask for the password. */
async function secretWords(core: ToolCore, caller: Caller, targetId: string): Promise<string[]> {
  const names = await core.secretNames(caller, targetId)
  if (names.length === 0) return []
  return [
    `Kept secrets for this page: ${names.join(", ")}. Fill one in with act fill, fields: [{ref, secret: name}]; you never see it.`,
  ]
}

async function navigate(
  core: ToolCore,
  value: BrowserToolInput,
  caller: Caller,
  context: ToolContext,
): Promise<ToolResult> {
  const request = parseRequest(navigateRequest, withUrl(value))
  const reply = await withinSites(core, value, { caller, context }, (own) => core.navigate(own, request))
  if (reply.download) return json(reply, "The address gave a file instead of a page; the tab stays where it was.")
  return withFresh(reply, reply.loaded ? afterLoad : `The page is still loading. ${afterLoad}`)
}

async function snapshot(core: ToolCore, value: BrowserToolInput, caller: Caller): Promise<ToolResult> {
  const reply = await core.snapshot(caller, parseRequest(snapshotRequest, snapshotFields(value)), "efficient")
  if (reply.format === "aria") return json(reply)
  const page = pageText(reply, reply.snapshot)
  const [words] = await secretWords(core, caller, reply.targetId)
  const note = words === undefined ? {} : { note: words }
  if (!reply.image) return { content: [page], ...note }
  const { type, data } = reply.image
  return { content: [page, { type: "image", mediaType: `image/${type}`, data }], ...note }
}

/** As the configuration says, else efficient, unless the model says what it wants. */
function snapshotFields(value: BrowserToolInput): JsonObject {
  const { snapshotFormat, snapshot: _fresh, ...fields } = value as JsonObject
  const asked = ["mode", "interactive", "compact", "depth", "selector", "frame", "refs", "find"].some(
    (name) => fields[name] !== undefined && fields[name] !== false,
  )
  const format = snapshotFormat === undefined ? {} : { format: snapshotFormat }
  return { ...(asked || snapshotFormat !== undefined ? {} : { mode: "default" }), ...fields, ...format }
}

function pageText(
  reply: { targetId: string; url: string; title: string },
  page: string,
): ToolResult["content"][number] {
  const { targetId, url, title } = reply
  return { type: "text", text: `page: ${JSON.stringify({ targetId, url, title })}\n${page}` }
}

/** An answer with the snapshot, when there is one, as text of its own. */
function withFresh<Reply extends { snapshot?: string }>(reply: Reply, note?: string): ToolResult {
  const { snapshot: page, ...rest } = reply
  const result = json(rest, page === undefined ? note : undefined)
  return page === undefined ? result : { ...result, content: [...result.content, { type: "text", text: page }] }
}

async function screenshot(core: ToolCore, value: BrowserToolInput, caller: Caller): Promise<ToolResult> {
  const { data, path, type, targetId, url, title, area, width, height } = await core.screenshot(
    caller,
    parseRequest(screenshotRequest, value),
  )
  return {
    content: [
      { type: "text", text: JSON.stringify({ targetId, url, title, area, picture: `${width}x${height}` }) },
      { type: "image", mediaType: `image/${type}`, data },
    ],
    note: sendable(path, "picture"),
  }
}

/** The file that a click gives, or the next one. */
async function download(core: ToolCore, value: BrowserToolInput, caller: Caller): Promise<ToolResult> {
  const request =
    value["ref"] === undefined
      ? core.waitDownload(caller, { ...parseRequest(waitDownloadRequest, value), sendable: true })
      : core.download(caller, { ...parseRequest(toolDownloadRequest, value), sendable: true })
  const { mediaPath, ...reply } = await request
  // The path below the downloads folder may hold words of the page: it is content.
  return json(reply, mediaPath === undefined ? undefined : sendable(mediaPath, "file"))
}

const toolDownloadRequest = downloadRequest.partial({ path: true })

async function act(core: ToolCore, value: BrowserToolInput, caller: Caller): Promise<ToolResult> {
  const request = requestOf(value)
  const reply = await core.act(caller, parseAct(request))
  if (reply.dialog)
    return json(reply, "The page asks a question and waits: answer it with the action dialog (accept true or false).")
  return withFresh(reply)
}
