// The agent tool `browser`: the same operations as the control service, called in the process.
// Whatever comes from a page (text, titles, addresses) is content; our own words are the note.
import { z } from "zod"
import type { Tool, ToolContext, ToolResult } from "../agent/tool.ts"
import { AppError, isJsonObject, type Json, type JsonObject } from "../kernel/index.ts"
import type { BrowserCore, Caller } from "./core.ts"
import {
  actKinds,
  chooserRequest,
  consoleRequest,
  dialogRequest,
  focusRequest,
  navigateRequest,
  openRequest,
  pageOnly,
  parseAct,
  parseRequest,
  screenshotRequest,
  snapshotRequest,
} from "./requests/index.ts"

const actions = [
  "status",
  "start",
  "stop",
  "profiles",
  "tabs",
  "open",
  "focus",
  "close",
  "snapshot",
  "screenshot",
  "navigate",
  "console",
  "pdf",
  "act",
  "upload",
  "dialog",
] as const
type Action = (typeof actions)[number]

/** Loose on purpose: each action's own schema looks at its fields, with an error that names them. */
const input = z.looseObject({ action: z.enum(actions) })

export type BrowserToolInput = z.infer<typeof input>

const readOnly: ReadonlySet<Action> = new Set(["status", "console", "profiles", "tabs", "snapshot", "screenshot"])

const text = (description: string): JsonObject => ({ type: "string", description })
const flag = (description: string): JsonObject => ({ type: "boolean", description })

const inputSchema: JsonObject = {
  type: "object",
  properties: {
    action: { type: "string", enum: [...actions] },
    target: {
      type: "string",
      enum: ["sandbox", "host", "node"],
      description: "Where the browser runs; leave out for the usual place",
    },
    profile: text("Browser profile; leave out for the default"),
    targetId: text("Tab id (or unique prefix) from tabs/open; leave out for the tab used last"),
    url: text("open, navigate: full http(s) URL"),
    mode: {
      type: "string",
      enum: ["efficient", "full"],
      description: "snapshot: efficient (default) lists controls and headings; full is the whole page as text",
    },
    find: text("snapshot: only elements with this role or these words"),
    diff: flag("snapshot: only what changed since the last one"),
    selector: text("snapshot: CSS, only inside this element"),
    frame: text("snapshot: CSS, only inside this iframe"),
    labels: flag("snapshot: add a picture with the refs drawn on it"),
    snapshotFormat: { type: "string", enum: ["ai", "aria"] },
    maxChars: { type: "integer", description: "snapshot: cut text at this length" },
    maxTokens: { type: "integer", description: "snapshot: fit into this budget" },
    snapshot: {
      type: "string",
      enum: ["efficient", "diff"],
      description: "act, navigate: answer with a snapshot of the page afterwards",
    },
    fullPage: flag("screenshot: the whole page, not only the view"),
    ref: text("screenshot: only this element"),
    type: { type: "string", enum: ["png", "jpeg"] },
    level: text("console: error, warning, info or debug, and above"),
    paths: { type: "array", items: { type: "string" }, description: "upload: names in the uploads folder" },
    inputRef: text("upload: the file input; else ref is clicked to open the chooser"),
    accept: flag("dialog: OK (true) or Cancel (false)"),
    promptText: text("dialog: answer to a prompt"),
    request: {
      type: "object",
      description: "act: what to do",
      properties: {
        kind: { type: "string", enum: [...actKinds] },
        ref: text("element ref from the last snapshot, e.g. e12"),
        text: text("type: replaces what is in the field; wait: until this is visible"),
        submit: flag("type: press Enter after"),
        slowly: flag("type: key by key"),
        key: text("press: e.g. Enter, Tab, ArrowDown, Control+A"),
        doubleClick: flag("click"),
        button: { type: "string", enum: ["left", "right", "middle"] },
        modifiers: {
          type: "array",
          items: { type: "string", enum: ["Alt", "Control", "ControlOrMeta", "Meta", "Shift"] },
        },
        startRef: text("drag"),
        endRef: text("drag"),
        values: { type: "array", items: { type: "string" }, description: "select: values or labels" },
        fields: {
          type: "array",
          description: "fill: all of these, or none",
          items: { type: "object", properties: { ref: { type: "string" }, value: {} }, required: ["ref", "value"] },
        },
        width: { type: "integer" },
        height: { type: "integer" },
        timeMs: { type: "integer", description: "wait: this long" },
        textGone: text("wait: until this is gone"),
        selector: text("wait: CSS, until visible"),
        url: text("wait: until the address matches, * for anything"),
        loadState: { type: "string", enum: ["load", "domcontentloaded", "networkidle"] },
        fn: text("evaluate, wait: JavaScript function"),
      },
      required: ["kind"],
    },
    timeoutMs: { type: "integer" },
  },
  required: ["action"],
}

const description =
  "Control a web browser. Usual way: open (or navigate) a URL, snapshot to read the page and get element refs, act on a ref, " +
  "snapshot again to see the result. Refs are the numbers in [ref=N]; they end with the page, so take a new snapshot after it changes."

export function createBrowserTool(options: { core(): BrowserCore }): Tool<BrowserToolInput> {
  return {
    name: "browser",
    description,
    input,
    inputSchema,
    output: "untrusted",
    repeatable: ({ action }) => readOnly.has(action),
    run(value, context) {
      return perform(options.core(), value, context)
    },
  }
}

async function perform(core: BrowserCore, value: BrowserToolInput, context: ToolContext): Promise<ToolResult> {
  const { target } = value
  if (target === "node" || target === "sandbox") {
    throw new AppError("bad-request", `target ${target} is not available here`, {
      hint: "Leave target out to use the gateway's own browser",
    })
  }
  if (!context.trusted && (value.action === "upload" || runsCode(value))) {
    throw new AppError("forbidden", "This turn acts on words of others: it may not run code in pages or send files", {
      hint: "Read the page with a snapshot and act by refs",
    })
  }
  if (!context.trusted && value.action === "stop") {
    throw new AppError("forbidden", "This turn acts on words of others: it may not stop the browser", {
      hint: "Close your own tabs with the action close",
    })
  }
  const profile = typeof value["profile"] === "string" ? value["profile"] : undefined
  const guest = context.trusted ? undefined : context.sessionKey
  return run(core, value, { profile, signal: context.signal, guest })
}

/** `evaluate`, and `wait` for a function. */
function runsCode(value: BrowserToolInput): boolean {
  const request = value.action === "act" ? requestOf(value) : undefined
  return isJsonObject(request) && (request["kind"] === "evaluate" || request["fn"] !== undefined)
}

async function run(core: BrowserCore, value: BrowserToolInput, caller: Caller): Promise<ToolResult> {
  switch (value.action) {
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
    case "open":
      return json(await core.open(caller, parseRequest(openRequest, withUrl(value))), afterLoad)
    case "navigate":
      return navigate(core, value, caller)
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
    case "pdf": {
      const { path, ...reply } = await core.pdf(caller, parseRequest(pageOnly, value))
      return json(reply, `FILE:${path}`)
    }
    case "act":
      return act(core, value, caller)
    case "upload":
      return json(await core.chooseFiles(caller, parseRequest(chooserRequest, value)))
    case "dialog":
      return json(await core.answerDialog(caller, parseRequest(dialogRequest, value)))
  }
}

const afterLoad = "Take a snapshot to read the page and to get refs of its elements."

function json(value: unknown, note?: string): ToolResult {
  return { content: [{ type: "text", text: JSON.stringify(value) }], ...(note === undefined ? {} : { note }) }
}

/** Models also write `targetUrl`, which other tools of this kind use. */
function withUrl(value: BrowserToolInput): JsonObject {
  const fields = value as JsonObject
  return fields["url"] === undefined && fields["targetUrl"] !== undefined
    ? { ...fields, url: fields["targetUrl"] }
    : fields
}

async function navigate(core: BrowserCore, value: BrowserToolInput, caller: Caller): Promise<ToolResult> {
  const reply = await core.navigate(caller, parseRequest(navigateRequest, withUrl(value)))
  if (reply.download) return json(reply, "The address gave a file instead of a page; the tab stays where it was.")
  return withFresh(reply, reply.loaded ? afterLoad : `The page is still loading. ${afterLoad}`)
}

async function snapshot(core: BrowserCore, value: BrowserToolInput, caller: Caller): Promise<ToolResult> {
  const reply = await core.snapshot(caller, parseRequest(snapshotRequest, snapshotFields(value)))
  if (reply.format === "aria") return json(reply)
  const page = pageText(reply, reply.snapshot)
  if (!reply.image) return { content: [page] }
  const { type, data } = reply.image
  return { content: [page, { type: "image", mediaType: `image/${type}`, data }] }
}

/** Efficient unless the model says what it wants. */
function snapshotFields(value: BrowserToolInput): JsonObject {
  const { snapshotFormat, snapshot: _fresh, ...fields } = value as JsonObject
  const asked = ["mode", "interactive", "compact", "depth", "selector", "frame", "refs", "find"].some(
    (name) => fields[name] !== undefined && fields[name] !== false,
  )
  const format = snapshotFormat === undefined ? {} : { format: snapshotFormat }
  return { ...(asked || snapshotFormat !== undefined ? {} : { mode: "efficient" }), ...fields, ...format }
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

async function screenshot(core: BrowserCore, value: BrowserToolInput, caller: Caller): Promise<ToolResult> {
  const { data, path, type, targetId, url, title } = await core.screenshot(
    caller,
    parseRequest(screenshotRequest, value),
  )
  return {
    content: [
      { type: "text", text: JSON.stringify({ targetId, url, title }) },
      { type: "image", mediaType: `image/${type}`, data },
    ],
    note: `MEDIA:${path}\nTo send this picture, write the line above, as it is, on a line of its own in your reply.`,
  }
}

async function act(core: BrowserCore, value: BrowserToolInput, caller: Caller): Promise<ToolResult> {
  const request = requestOf(value)
  const reply = await core.act(caller, parseAct(request))
  if (reply.dialog)
    return json(reply, "The page asks a question and waits: answer it with the action dialog (accept true or false).")
  return withFresh(reply)
}

/** The request with the outer targetId; models also write its fields beside the action. */
function requestOf(value: BrowserToolInput): Json {
  const { action: _action, request, ...outer } = value as JsonObject
  const shared = ["targetId", "snapshot"].filter((name) => outer[name] !== undefined)
  if (isJsonObject(request)) {
    const given = Object.fromEntries(shared.map((name) => [name, outer[name]])) as JsonObject
    return { ...given, ...request }
  }
  return outer
}
