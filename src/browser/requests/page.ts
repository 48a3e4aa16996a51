// The requests about tabs and about what a tab shows.
import { z } from "zod"
import { clamped, flag, fresh, numeric, target, word, words } from "./fields.ts"

const loadTimeout = clamped(1_000, 120_000, 20_000)

export const openRequest = z.object({ url: word, timeoutMs: loadTimeout })
export const focusRequest = z.object({ targetId: word })
export const tabActionRequest = z
  .object({
    action: z.enum(["list", "new", "select", "close"]),
    index: numeric(z.number().int().min(0)).optional(),
  })
  .refine(({ action, index }) => action !== "select" || index !== undefined, "select needs an index")
export const navigateRequest = z.object({ ...target, ...fresh, url: word, timeoutMs: loadTimeout })
export const snapshotRequest = z.object({
  ...target,
  format: z
    .enum(["ai", "aria"])
    .optional()
    .describe("Default `ai`; without the automation library `aria`, where nothing is asked for that only `ai` has."),
  /** `default` is what the configuration says; callers that know nothing better send it. */
  mode: z.enum(["full", "efficient", "default"]).default("full"),
  /** How refs are written: `e12` (role) or plain numbers (aria). */
  refs: z.enum(["role", "aria"]).optional(),
  interactive: flag.default(false),
  compact: flag.default(false),
  depth: numeric(z.number().int().min(0).max(1_000)).optional(),
  selector: z.string().trim().max(2_000).default(""),
  frame: z.string().trim().max(2_000).default(""),
  labels: flag.default(false),
  find: z.string().trim().max(500).default(""),
  diff: flag.default(false),
  limit: numeric(z.number())
    .transform((value) => Math.min(2_000, Math.max(1, Math.floor(value))))
    .optional()
    .describe(
      "At most so many nodes (format aria; default 500) or lines (format ai; default all); brought into 1 to 2000.",
    ),
  maxTokens: numeric(z.number().int().min(50).max(1_000_000)).optional(),
  /** 0 switches cutting off. */
  maxChars: numeric(z.number().int().min(0)).optional(),
  timeoutMs: clamped(500, 60_000, 10_000),
})
export const screenshotRequest = z
  .object({
    ...target,
    fullPage: flag.default(false).describe("The whole page; cut past 8000 pixels a side."),
    ref: word.optional().describe("Only this element."),
    element: word.optional().describe("Only the one element that this CSS selector fits, in the main frame."),
    labels: flag.default(false).describe("The view with the refs of what can be acted on drawn over it, at most 150."),
    type: z.enum(["png", "jpeg"]).default("png").describe("JPEG is also used where PNG would be too large."),
    timeoutMs: clamped(500, 60_000, 20_000),
  })
  .refine(
    ({ fullPage, ref, element, labels }) =>
      [fullPage, ref !== undefined, element !== undefined, labels].filter(Boolean).length <= 1,
    "fullPage, ref, element and labels exclude each other",
  )
/** How long what was armed waits for its dialog, chooser or download. */
const armTimeout = clamped(500, 120_000, 120_000)
const path = z.string().min(1, "must not be empty").max(4_000)

export const dialogRequest = z.object({
  ...target,
  accept: flag,
  promptText: words(z.string().max(10_000)).optional(),
  timeoutMs: armTimeout,
})
export const chooserRequest = z
  .object({
    ...target,
    paths: z.array(path).min(1, "must name at least one file").max(50),
    ref: word.optional(),
    inputRef: word.optional(),
    element: word.optional(),
    timeoutMs: armTimeout,
  })
  .refine(
    ({ ref, inputRef, element }) => [ref, inputRef, element].filter((way) => way !== undefined).length <= 1,
    "ref, inputRef and element exclude each other",
  )
export const downloadRequest = z.object({ ...target, ref: word, path, timeoutMs: armTimeout })
export const waitDownloadRequest = z.object({ ...target, path: path.optional(), timeoutMs: armTimeout })

export type OpenRequest = z.infer<typeof openRequest>
export type TabActionRequest = z.infer<typeof tabActionRequest>
export type NavigateRequest = z.infer<typeof navigateRequest>
export type SnapshotRequest = z.infer<typeof snapshotRequest>
export type ScreenshotRequest = z.infer<typeof screenshotRequest>
export type ChooserRequest = z.infer<typeof chooserRequest>
export type DownloadRequest = z.infer<typeof downloadRequest>
export type WaitDownloadRequest = z.infer<typeof waitDownloadRequest>
export type DialogRequest = z.infer<typeof dialogRequest>
