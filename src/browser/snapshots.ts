// Snapshots for all who ask: which options a request means, and the snapshot that follows an action.
import { AppError } from "../kernel/index.ts"
import { type CoreOptions, createAccess, limits, pageReply } from "./access.ts"
import type { Caller } from "./caller.ts"
import type { BrowserConfig } from "./config.ts"
import type { AriaReply, FreshSnapshot, SnapshotReply } from "./contract.ts"
import type { Guard } from "./guard.ts"
import { savePicture } from "./media.ts"
import type { Picture } from "./page/screenshot.ts"
import { takeAria } from "./page/snapshot/aria.ts"
import { type LabelledPicture, takeLabelled } from "./page/snapshot/labels.ts"
import {
  defaultMaxChars,
  efficientMaxChars,
  type Snapshot,
  type SnapshotOptions,
  takeSnapshot,
} from "./page/snapshot/take.ts"
import type { Operation, OperationOptions, Tab } from "./page/tab.ts"
import type { SnapshotRequest } from "./requests/index.ts"

/** The mode of a snapshot for which neither the caller nor the configuration names one. */
export type UsualMode = "efficient" | "full"

export function snapshotOptions(
  request: SnapshotRequest,
  settings: BrowserConfig,
  usual: UsualMode = "full",
): SnapshotOptions {
  const { interactive, compact, depth, selector, frame, labels, maxChars, maxTokens, limit, find, diff } = request
  const mode = request.mode === "default" ? (settings.snapshotDefaults.mode ?? usual) : request.mode
  const efficient = mode === "efficient"
  const role = efficient || interactive || compact || depth !== undefined || selector !== "" || frame !== "" || labels
  const byDefault = efficient ? efficientMaxChars : defaultMaxChars
  return {
    interactive: interactive || efficient,
    compact: compact || efficient,
    efficient,
    depth: depth ?? -1,
    selector,
    frame,
    roleRefs: request.refs === undefined ? role || find !== "" : request.refs === "role",
    maxChars: maxChars === 0 ? undefined : (maxChars ?? byDefault),
    maxTokens,
    maxLines: limit,
    find,
    diff,
    patient: true,
  }
}

export async function snapshotOf(
  tab: Tab,
  request: SnapshotRequest,
  parts: { settings: BrowserConfig; guard: Guard; usual?: UsualMode },
  operation: Operation,
): Promise<{ snapshot: Snapshot; labelled?: LabelledPicture }> {
  parts.guard.checkRead(tab)
  const snapshot = await takeSnapshot(tab, operation, snapshotOptions(request, parts.settings, parts.usual))
  return request.labels
    ? { snapshot, labelled: await takeLabelled(tab, snapshot.lines, "png", operation) }
    : { snapshot }
}

/** For people who look at it beside the picture: all that can be acted on, and the words between. */
export const viewSnapshot: SnapshotOptions = {
  interactive: false,
  compact: true,
  efficient: false,
  depth: -1,
  selector: "",
  frame: "",
  roleRefs: true,
  maxChars: defaultMaxChars,
  maxTokens: undefined,
  maxLines: undefined,
  find: "",
  diff: false,
  patient: false,
}

const fresh: SnapshotOptions = {
  interactive: true,
  compact: true,
  efficient: true,
  depth: -1,
  selector: "",
  frame: "",
  roleRefs: true,
  maxChars: efficientMaxChars,
  maxTokens: undefined,
  maxLines: undefined,
  find: "",
  diff: false,
  patient: false,
}

/** A picture with the refs of what can be acted on; what the next `diff` compares with stays as it was. */
export async function labelledPicture(tab: Tab, type: "png" | "jpeg", operation: Operation): Promise<LabelledPicture> {
  const { last } = tab.memory
  const { lines } = await takeSnapshot(tab, operation, { ...fresh, efficient: false, maxChars: undefined })
  tab.memory.restore(last)
  return takeLabelled(tab, lines, type, operation)
}

/**
 * The snapshot that an action was asked to answer with; nothing when it was not. The action has been done by now, so a page
 * that cannot be read is said in place of its text: an error would have the action repeated.
 */
export async function freshSnapshot(
  tab: Tab,
  wanted: "efficient" | "diff" | undefined,
  guard: Guard,
  limits: OperationOptions,
): Promise<{ fresh: FreshSnapshot; title: string }> {
  const none = { fresh: {}, title: "" }
  if (wanted === undefined || tab.dialog || !tab.isOpen) return none
  try {
    return await tab.operate({ ...limits, what: "The snapshot" }, async (operation) => {
      guard.checkRead(tab)
      const { snapshot, truncated, title } = await takeSnapshot(tab, operation, {
        ...fresh,
        diff: wanted === "diff",
        patient: wanted === "diff",
      })
      return { fresh: { snapshot, truncated }, title }
    })
  } catch (error) {
    if (!(error instanceof AppError) || limits.signal?.aborted || error.code === "navigation-refused") throw error
    return { ...none, fresh: { snapshot: `(no snapshot: ${error.message})`, truncated: false } }
  }
}

export function snapshotOperations(options: CoreOptions) {
  const { guard } = options
  const { needLibrary, pick } = createAccess(options)
  return {
    async snapshot(
      caller: Caller,
      request: SnapshotRequest,
      usual: UsualMode = "full",
    ): Promise<(SnapshotReply & { image?: Picture }) | AriaReply> {
      const timed = limits("The snapshot", request.timeoutMs, caller)
      const format =
        request.format ?? (options.hasAutomationLibrary() ? "ai" : formatWithout(request, options.settings))
      if (format === "aria") {
        checkAria(request)
        const tab = await pick(caller, request.targetId)
        const tree = await tab.operate(timed, async (operation) => {
          guard.checkRead(tab)
          return takeAria(tab, request.limit ?? ariaLimit, operation)
        })
        return { ...(await pageReply(tab)), format: "aria", ...tree }
      }
      needLibrary("ai snapshot")
      const tab = await pick(caller, request.targetId)
      const { url, ...taken } = await tab.operate(timed, async (operation) => {
        const parts = { settings: options.settings, guard, usual }
        return { ...(await snapshotOf(tab, request, parts, operation)), url: tab.url }
      })
      const { lines: _lines, title, ...snapshot } = taken.snapshot
      const known = tab.url === url ? title : ""
      const reply: SnapshotReply = { ...(await pageReply(tab, known)), format: "ai", ...snapshot }
      if (!taken.labelled) return reply
      const { picture, shown, skipped } = taken.labelled
      const imagePath = await savePicture(options, picture)
      const labels = { labels: true as const, labelsCount: shown, labelsSkipped: skipped }
      return { ...reply, ...labels, imagePath, imageType: picture.type, image: picture }
    },
  }
}

const ariaLimit = 500

/** What there is without the automation library, unless it is the other that is meant. */
function formatWithout(request: SnapshotRequest, { snapshotDefaults }: BrowserConfig): "ai" | "aria" {
  const { mode, depth, refs, maxTokens } = request
  const isEfficient = mode === "efficient" || (mode === "default" && snapshotDefaults.mode === "efficient")
  const isShaped = isEfficient || depth !== undefined || refs !== undefined || maxTokens !== undefined
  return isShaped || onlyAi(request) !== undefined ? "ai" : "aria"
}

function onlyAi(request: SnapshotRequest): string | undefined {
  const names = ["labels", "interactive", "compact", "find", "diff", "selector", "frame"] as const
  return names.find((name) => request[name])
}

function checkAria(request: SnapshotRequest): void {
  const wrong = onlyAi(request)
  if (wrong === undefined && request.mode !== "efficient") return
  throw new AppError("bad-request", `${wrong ?? "mode efficient"} does not go together with the format aria`)
}
