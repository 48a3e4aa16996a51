// Commands that act on a page: each is one POST /act.
import { AppError } from "../../kernel/errors.ts"
import { act, type CommandSpec, dialogWords, type Flag, plain, type Run, snapshotFlag, timeoutFlag } from "./command.ts"

const pointFlags: Flag[] = [
  [
    "--x <n>",
    "a point of the element's box: pixels, or a share of it when x and y are 0 to 1; without a ref of the view",
  ],
  ["--y <n>", "as --x, from the top"],
]

export const actionCommands: CommandSpec[] = [
  {
    usage: "click [ref]",
    description: "Click an element, a point of its box, or a point of the view",
    example: "svc browser click 12 --double",
    json: "ActReply",
    tab: true,
    flags: [
      ["--double", "click twice"],
      ["--button <button>", "which mouse button (default left)", ["left", "right", "middle"]],
      ["--modifiers <list>", "keys to hold, with commas: Shift,Control"],
      ...pointFlags,
      snapshotFlag,
      ...timeoutFlag,
    ],
    perform: async (run, ref) => {
      const { double, button, modifiers, x, y } = run.options
      const held = typeof modifiers === "string" ? modifiers.split(",").filter(Boolean) : undefined
      const reply = await act(run, { kind: "click", ...refOf(ref), x, y, doubleClick: double, button, modifiers: held })
      return {
        reply,
        show: () => run.io.print(`clicked ${placeWords(ref, run)} on ${plain(reply.url)}${dialogWords(reply)}`),
      }
    },
  },
  {
    usage: "type <ref> <text>",
    description: "Put text into a field, in place of what it holds, or a number into a slider",
    example: 'svc browser type 7 "hello" --submit',
    json: "ActReply",
    tab: true,
    flags: [
      ["--submit", "press Enter after"],
      ["--slowly", "key by key"],
      [
        "--mode <mode>",
        "over the text that is there, behind it, or at the text cursor",
        ["replace", "append", "caret"],
      ],
      snapshotFlag,
      ...timeoutFlag,
    ],
    perform: async (run, ref, text) => {
      const reply = await act(
        run,
        {
          kind: "type",
          ref,
          text,
          submit: run.options["submit"],
          slowly: run.options["slowly"],
          mode: run.options["mode"],
        },
        text?.length,
      )
      return { reply, show: () => run.io.print(`typed into ref ${ref}${dialogWords(reply)}`) }
    },
  },
  {
    usage: "press <key>",
    description: "Press a key, for whatever has the focus or for the element of a ref",
    example: "svc browser press ArrowRight --ref e4",
    json: "ActReply",
    tab: true,
    flags: [["--ref <ref>", "give this element the focus first"], snapshotFlag, ...timeoutFlag],
    perform: async (run, key) => {
      const reply = await act(run, { kind: "press", key, ref: run.options["ref"] })
      return { reply, show: () => run.io.print(`pressed ${key}${dialogWords(reply)}`) }
    },
  },
  {
    usage: "hover [ref]",
    description: "Put the mouse over an element, or over a point",
    example: "svc browser hover e4",
    json: "ActReply",
    tab: true,
    flags: [...pointFlags, snapshotFlag, ...timeoutFlag],
    perform: async (run, ref) => {
      const { x, y } = run.options
      return say(run, { kind: "hover", ...refOf(ref), x, y }, `hovering over ${placeWords(ref, run)}`)
    },
  },
  {
    usage: "scroll [ref]",
    description:
      "Scroll the page, or what an element is or stands in: by views, all the way, or until words are in view",
    example: 'svc browser scroll e8 --text "Invoice 120"',
    json: "ActReply",
    tab: true,
    flags: [
      ["--direction <direction>", "which way (default down)", ["down", "up", "left", "right"]],
      ["--pages <n>", "how many views far (default 0.8)"],
      ["--pixels <n>", "how many pixels far"],
      ["--to <end>", "all the way", ["start", "end"]],
      ["--text <text>", "until these words are in view"],
      ...pointFlags,
      snapshotFlag,
      ["--timeout-ms <n>", "time limit (default 20000)"],
    ],
    perform: async (run, ref) => {
      const { direction, pages, pixels, to, text, x, y } = run.options
      const body = { kind: "scroll", ...refOf(ref), direction, pages, pixels, to, text, x, y }
      const reply = await act(run, body)
      const words = reply.scrolled === false ? "nothing left to scroll" : "scrolled"
      return { reply, show: () => run.io.print(`${words}${dialogWords(reply)}`) }
    },
  },
  {
    usage: "scrollintoview <ref>",
    description: "Scroll until an element is in view",
    example: "svc browser scrollintoview e40",
    json: "ActReply",
    tab: true,
    flags: [["--timeout-ms <n>", "time limit (default 20000)"]],
    perform: async (run, ref) => say(run, { kind: "scrollIntoView", ref }, `scrolled to ref ${ref}`),
  },
  {
    usage: "drag [startRef] [endRef]",
    description: "Drag an element onto another one, between items of a list, or from point to point",
    example: "svc browser drag e4 e9 --place after",
    json: "ActReply",
    tab: true,
    flags: [
      ["--place <place>", "where beside the second element (default on)", ["on", "before", "after"]],
      ["--start-x <n>", "where it is taken: as --x of click"],
      ["--start-y <n>", "where it is taken: as --y of click"],
      ["--end-x <n>", "where it is let go: as --x of click"],
      ["--end-y <n>", "where it is let go: as --y of click"],
      snapshotFlag,
      ...timeoutFlag,
    ],
    perform: async (run, startRef, endRef) => {
      const { startX, startY, endX, endY, place } = run.options
      const refs = { ...(startRef ? { startRef } : {}), ...(endRef ? { endRef } : {}) }
      const words = `dragged ${startRef || `${startX},${startY}`} → ${endRef || `${endX},${endY}`}`
      return say(run, { kind: "drag", ...refs, startX, startY, endX, endY, place }, words)
    },
  },
  {
    usage: "select <ref> <values...>",
    description: "Choose options of a list, by value or label",
    example: "svc browser select e7 Large",
    json: "ActReply",
    tab: true,
    flags: [snapshotFlag, ...timeoutFlag],
    perform: async (run, ref, ...values) =>
      say(run, { kind: "select", ref, values }, `selected ${values.join(", ")} in ref ${ref}`),
  },
  {
    usage: "fill",
    description: "Fill several fields: all of them, or none",
    example: `svc browser fill --fields '[{"ref":"e3","value":"Ada"},{"ref":"e5","type":"checkbox","value":true}]'`,
    json: "ActReply",
    tab: true,
    flags: [
      ["--fields <json>", "fields as a JSON array of {ref, type?, value}"],
      ["--fields-file <path>", "a file that holds this array"],
      snapshotFlag,
      ...timeoutFlag,
    ],
    perform: async (run) => {
      const fields = await readFields(run.options)
      return say(run, { kind: "fill", fields }, `filled ${fields.length} field(s)`)
    },
  },
  {
    usage: "resize <width> <height>",
    description: "Give the page a view of this size",
    example: "svc browser resize 1280 800",
    json: "ActReply",
    tab: true,
    perform: async (run, width, height) => say(run, { kind: "resize", width, height }, `resized to ${width}x${height}`),
  },
  {
    usage: "wait [selector]",
    description: "Wait until the page is as described; several conditions are met one after the other",
    example: 'svc browser wait --text "Order complete" --timeout-ms 30000',
    json: "ActReply",
    tab: true,
    flags: [
      ["--time <ms>", "this long, first"],
      ["--text <text>", "until this text is visible"],
      ["--text-gone <text>", "until this text is not visible any more"],
      ["--url <glob>", "until the address is this; * stands for anything"],
      ["--load <state>", "until the page has loaded so far", ["load", "domcontentloaded", "networkidle"]],
      ["--fn <js>", "until this function gives something true"],
      ["--timeout-ms <n>", "time limit (default 20000)"],
    ],
    perform: async (run, selector) => {
      const { time, text, textGone, url, load, fn } = run.options
      const body = { kind: "wait", timeMs: time, text, textGone, url, loadState: load, fn }
      return say(run, selector ? { ...body, selector } : body, "wait complete")
    },
  },
  {
    usage: "evaluate",
    description: "Run JavaScript in the page and print what it gives as JSON",
    example: "svc browser evaluate --fn '(element) => element.value' --ref e7",
    json: "ActReply",
    tab: true,
    flags: [
      ["--fn <js>", "a function or an expression"],
      ["--ref <ref>", "hand this element to the function"],
      ["--timeout-ms <n>", "time limit (default 20000)"],
    ],
    perform: async (run) => {
      const reply = await act(run, { kind: "evaluate", fn: run.options["fn"], ref: run.options["ref"] })
      // Without a result: its tab was closed meanwhile, or a question of the page stands open.
      const words =
        reply.result === undefined ? `no result${dialogWords(reply)}` : JSON.stringify(reply.result, null, 2)
      return { reply, show: () => run.io.print(words) }
    },
  },
]

/** A name that was left out comes as an empty word. */
function refOf(ref: string | undefined): { ref?: string } {
  return ref ? { ref } : {}
}

function placeWords(ref: string | undefined, { options }: Run): string {
  const point = options["x"] === undefined ? "" : `${String(options["x"])}, ${String(options["y"])}`
  if (!ref) return `the point ${point}`
  return `ref ${ref}${point === "" ? "" : ` at ${point}`}`
}

async function say(run: Run, body: Record<string, unknown>, words: string) {
  const reply = await act(run, body)
  return { reply, show: () => run.io.print(`${words}${dialogWords(reply)}`) }
}

async function readFields(options: Run["options"]): Promise<unknown[]> {
  const { fields, fieldsFile } = options
  if ((typeof fields === "string") === (typeof fieldsFile === "string"))
    throw new AppError("bad-request", "Give either --fields or --fields-file")
  try {
    const { readFile } = await import("node:fs/promises")
    const parsed: unknown = JSON.parse(typeof fields === "string" ? fields : await readFile(String(fieldsFile), "utf8"))
    if (Array.isArray(parsed)) return parsed
  } catch (error) {
    throw new AppError("bad-request", "The fields are not a JSON array", { cause: error })
  }
  throw new AppError("bad-request", "The fields are not a JSON array")
}
