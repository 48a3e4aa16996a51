// What the control service answers about tabs and about what they show.
import { z } from "zod"

const ok = z.literal(true)
const targetId = z.string().describe("The tab.")
const pictureType = z.enum(["png", "jpeg"])
const absolutePath = z.string().describe("Absolute path of the file.")

/** The fields of every answer about a tab. */
export const done = z.object({ ok, targetId })

export const tabInfo = z.object({
  targetId,
  title: z.string(),
  url: z.string(),
  type: z.literal("page"),
  guest: z.literal(true).exactOptional().describe("Of a turn that acts on words of others, which has it apart."),
})
export const tabList = z.object({
  running: z.boolean().describe("Whether the profile's browser runs."),
  tabs: z.array(tabInfo),
})
export const tabAction = z.union([
  z.object({ ok, tabs: z.array(tabInfo) }).describe("Of `list`."),
  z.object({ ok, tab: tabInfo }).describe("Of `new`."),
  done.describe("Of `select` and `close`."),
])

export const dialogInfo = z.object({
  type: z.enum(["alert", "confirm", "prompt", "beforeunload"]),
  message: z.string(),
})

export const pageReply = z.object({ ok, targetId, url: z.string(), title: z.string() })

export const freshSnapshot = z.object({
  snapshot: z.string().exactOptional().describe("The page as it is now, when the request asked for it."),
  truncated: z.boolean().exactOptional().describe("True when parts were left out; the text says which."),
})

const note = z.string().exactOptional().describe("A download that nobody waited for, and that was refused.")

export const actReply = z.object({
  ...pageReply.shape,
  ...freshSnapshot.shape,
  dialog: dialogInfo.exactOptional().describe("A question that the action made the page ask; it waits for an answer."),
  settled: z
    .literal(false)
    .exactOptional()
    .describe("The action was done, but the page had not come to rest when the time was up. Do not repeat it; look."),
  scrolled: z.boolean().exactOptional().describe("Of `scroll`: false when there was nothing left to scroll."),
  closed: z.literal(true).exactOptional().describe("The action made the page close its own tab."),
  result: z.unknown().exactOptional().describe("Of `evaluate`: what the code gave."),
  note,
})

export const runReply = z.object({
  ...pageReply.shape,
  ...freshSnapshot.shape,
  done: z.number().describe("Steps that were done, each time round of a loop counted."),
  values: z.record(z.string(), z.unknown()).describe("What the steps have read, set or been given, by name."),
  stopped: z
    .object({
      step: z.string().describe("Place of the step: `3`, or `3.2` inside a loop or condition."),
      kind: z.string(),
      round: z.number().exactOptional().describe("Which time round the innermost loop, from 1."),
      code: z.string(),
      message: z.string(),
      hint: z.string().exactOptional(),
    })
    .exactOptional()
    .describe("The step that could not be done; those before it were."),
  notes: z.array(z.string()).exactOptional().describe("What the browser said of steps."),
  kept: z.string().exactOptional().describe("The name under which the script is kept now."),
  notKept: z.string().exactOptional().describe("Why it was not kept."),
})
export const keptScript = z.object({
  name: z.string(),
  start: z.string().describe("Where it begins; empty when its first step says so."),
  sites: z.array(z.string()).describe("Sites of the pages that it works on: on others it does nothing."),
  named: z.array(z.string()).describe("Those of them that the owner had named when it was kept."),
  steps: z.array(z.record(z.string(), z.unknown())),
  inputs: z.array(z.string()).describe("Values that it must be given."),
  madeAt: z.string(),
  runs: z.number(),
  lastRun: z.string().exactOptional(),
  lastStop: z.string().exactOptional().describe("Where and why it stopped the last time, if it did."),
})
export const scriptList = z.object({ scripts: z.array(keptScript) })
export const removedScript = z.object({ ok, name: z.string() })
// The narrower first: an act's fields alone would fit every answer of a script, and drop the rest.
export const actAnswer = z.union([runReply.describe("Of `run`."), actReply])

export const navigateReply = z.object({
  ...pageReply.shape,
  ...freshSnapshot.shape,
  loaded: z.boolean().describe("False when the page was there but went on loading past the time limit."),
  download: z.boolean().describe("True when the address gave a file; the tab stays where it was."),
  note,
})

export const dialogReply = z.object({
  ...pageReply.shape,
  armed: ok.exactOptional().describe("There is no question now; the next one gets this answer."),
})

export const snapshotRef = z.object({
  role: z.string(),
  name: z.string().exactOptional(),
  nth: z.number().exactOptional().describe("Place among those of the same role and name, from 0."),
})

export const snapshotReply = z.object({
  ...pageReply.shape,
  format: z.literal("ai"),
  snapshot: z.string(),
  refs: z.record(z.string(), snapshotRef).describe("By ref, as written in the text."),
  stats: z.object({ lines: z.number(), chars: z.number(), refs: z.number(), interactive: z.number() }),
  truncated: z.boolean().describe("True when parts were left out; the text says which."),
  labels: ok.exactOptional(),
  labelsCount: z.number().exactOptional().describe("Refs that were drawn."),
  labelsSkipped: z.number().exactOptional().describe("Refs out of view, or past the first 150."),
  imagePath: absolutePath.exactOptional(),
  imageType: pictureType.exactOptional(),
})

export const ariaReply = z.object({
  ...pageReply.shape,
  format: z.literal("aria"),
  nodes: z.array(
    z.object({
      ref: z.string().describe("A name for this answer only; actions do not take it."),
      role: z.string(),
      name: z.string(),
      value: z.string().exactOptional(),
      description: z.string().exactOptional(),
      backendDOMNodeId: z.number().exactOptional(),
      depth: z.number(),
    }),
  ),
  truncated: z.boolean().describe("True when there are more nodes than `limit`."),
})

export const snapshotAnswer = z.discriminatedUnion("format", [snapshotReply, ariaReply])

export const screenshotReply = z.object({
  ...pageReply.shape,
  path: absolutePath,
  type: pictureType.describe("JPEG also when PNG was asked for and would have been too large."),
  width: z.number().describe("Pixels of the picture, at most 2000."),
  height: z.number().describe("Pixels of the picture, at most 2000."),
  area: z
    .object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() })
    .describe(
      "What is shown, in the coordinates that actions take: the picture's point (px, py) is x + px * area.width / width of the view, and so on.",
    ),
  truncated: z.boolean().describe("True when the page is longer or wider than what is shown."),
  labelsCount: z.number().exactOptional().describe("Refs that were drawn."),
  labelsSkipped: z.number().exactOptional().describe("Refs out of view, or past the first 150."),
})

export const pdfReply = z.object({ ...done.shape, path: absolutePath, url: z.string() })

export const downloadReply = z.object({
  ...done.shape,
  download: z.object({ url: z.string(), suggestedFilename: z.string(), path: absolutePath, bytes: z.number() }),
})

export const downloadsReply = z.object({
  downloads: z.array(
    z.object({
      targetId: z.string(),
      url: z.string(),
      suggestedFilename: z.string(),
      receivedBytes: z.number(),
      totalBytes: z.number().exactOptional().describe("Absent when the server has not said it."),
    }),
  ),
})
