// What the agent tool `browser` takes, and what of it a model is shown: one short schema for all actions.
import { z } from "zod"
import { type Json, type JsonObject, isJsonObject } from "../../kernel/index.ts"
import { actKinds, isRun } from "../requests/index.ts"

export const actions = [
  "status",
  "attach",
  "takeover",
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
  "errors",
  "requests",
  "pdf",
  "act",
  "upload",
  "download",
  "dialog",
] as const
export type Action = (typeof actions)[number]

const names = ["targetId", "ref", "inputRef"] as const

/**
 * Loose on purpose: each action's own schema looks at its fields, with an error that names them. A tab or an element that is
 * named by a number is the same for all who look at the call: what is gated is what is done.
 */
export const input = z.looseObject({ action: z.enum(actions) }).overwrite((value) => {
  const numbers = names.filter((name) => typeof value[name] === "number")
  return { ...value, ...Object.fromEntries(numbers.map((name) => [name, String(value[name])])) }
})

export type BrowserToolInput = z.infer<typeof input>

export const readOnly: ReadonlySet<Action> = new Set([
  "status",
  "console",
  "errors",
  "requests",
  "profiles",
  "tabs",
  "snapshot",
  "screenshot",
])

const text = (description: string): JsonObject => ({ type: "string", description })
const number = (description: string): JsonObject => ({ type: "number", ...(description === "" ? {} : { description }) })
const flag = (description: string): JsonObject => ({ type: "boolean", description })

/** In the form that `flatSchema` of the agent describes. */
export const inputSchema: JsonObject = {
  type: "object",
  properties: {
    action: { type: "string", enum: [...actions] },
    target: {
      type: "string",
      enum: ["sandbox", "host", "node"],
      description: "Where the browser runs; leave out for the usual place",
    },
    node: text("Name of the node (another machine), with target node"),
    profile: text("Browser profile; leave out for the default. relay: tabs of the person's own browser, after attach"),
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
    labels: flag("snapshot, screenshot: a picture with the refs drawn on it"),
    snapshotFormat: { type: "string", enum: ["ai", "aria"] },
    maxChars: { type: "integer", description: "snapshot: cut text at this length" },
    maxTokens: { type: "integer", description: "snapshot: fit into this budget" },
    snapshot: {
      type: "string",
      enum: ["efficient", "diff"],
      description: "act, navigate: answer with a snapshot of the page afterwards",
    },
    fullPage: flag("screenshot: the whole page, not only the view"),
    ref: text("screenshot: only this element; upload: clicked to open the chooser; download: clicked to get the file"),
    element: text("screenshot: only this element, by CSS"),
    type: { type: "string", enum: ["png", "jpeg"] },
    level: text("console: error, warning, info or debug, and above"),
    filter: text("requests: only addresses that hold this"),
    paths: { type: "array", items: { type: "string" }, description: "upload: names in the uploads folder" },
    inputRef: text("upload: the file input itself"),
    path: text("download: name in the downloads folder; without ref the next download is waited for"),
    accept: flag("dialog: OK (true) or Cancel (false)"),
    promptText: text("dialog: answer to a prompt"),
    request: {
      type: "object",
      description: "act: what to do",
      properties: {
        kind: { type: "string", enum: [...actKinds, "run"] },
        ref: text("element ref from the last snapshot, e.g. e12"),
        x: number(
          "click, hover, drag, scroll: point of the ref's box in pixels, or 0 to 1 as a share; without ref of the view",
        ),
        y: number(""),
        text: text("type: replaces what is in the field; wait: until this is visible; scroll: until this is in view"),
        mode: { type: "string", enum: ["replace", "append", "caret"], description: "type" },
        submit: flag("type, fill: press Enter after"),
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
        startX: number("drag: as x"),
        startY: number(""),
        endX: number(""),
        endY: number(""),
        place: { type: "string", enum: ["on", "before", "after"], description: "drag: where beside endRef" },
        direction: { type: "string", enum: ["down", "up", "left", "right"], description: "scroll: the page, or ref" },
        pages: number("scroll: views far"),
        to: { type: "string", enum: ["start", "end"], description: "scroll" },
        values: {
          type: "array",
          items: { type: "string" },
          description: "select: values or labels; of a text the words to mark",
        },
        fields: {
          type: "array",
          description: "fill: all of these, or none",
          items: {
            type: "object",
            properties: {
              ref: { type: "string" },
              value: text("text, option, or true/false for a checkbox"),
              secret: text("a kept secret's name, instead"),
            },
            required: ["ref"],
          },
        },
        width: { type: "integer" },
        height: { type: "integer" },
        timeMs: { type: "integer", description: "wait: this long" },
        textGone: text("wait: until this is gone"),
        selector: text("wait: CSS, until visible"),
        url: text("wait: until the address matches, * for anything"),
        loadState: { type: "string", enum: ["load", "domcontentloaded", "networkidle"] },
        fn: text("evaluate, wait: JavaScript function"),
        steps: {
          type: "array",
          description:
            "run: such requests in a row, without asking you between; find: words, instead of ref. [] tells all",
          items: { type: "object", properties: { kind: { type: "string" } } },
        },
      },
      required: ["kind"],
    },
    reason: text("takeover: what the person is to do"),
    timeoutMs: { type: "integer" },
  },
  required: ["action"],
}

export const description =
  "Control a web browser. Usual way: open (or navigate) a URL, snapshot to read the page and get element refs, act on a ref, " +
  "snapshot again to see the result. Refs are the numbers in [ref=N]; they end with the page, so take a new snapshot after it changes. " +
  "Scroll for what a list has not drawn yet. A canvas is worked by act at x and y, which are those of a screenshot. " +
  "attach asks the person for a tab of their own browser, where they are signed in (with node: on that machine). takeover hands them the tab for a login, code or captcha."

/** The request with the outer targetId; models also write its fields beside the action. */
export function requestOf(value: BrowserToolInput): Json {
  const { action: _action, request, ...outer } = value as JsonObject
  const shared = ["targetId", "snapshot"].filter((name) => outer[name] !== undefined)
  if (isJsonObject(request)) {
    const given = Object.fromEntries(shared.map((name) => [name, outer[name]])) as JsonObject
    return { ...given, ...request }
  }
  return outer
}

export function isScript(value: BrowserToolInput): boolean {
  return value.action === "act" && isRun(requestOf(value))
}

/** Models also write `targetUrl`, which other tools of this kind use. */
export function withUrl(value: BrowserToolInput): JsonObject {
  const fields = value as JsonObject
  return fields["url"] === undefined && fields["targetUrl"] !== undefined
    ? { ...fields, url: fields["targetUrl"] }
    : fields
}
