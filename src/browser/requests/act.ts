// The requests of POST /act: one schema for each kind of action.
import { z } from "zod"
import { AppError, isJsonObject, type Json, type JsonObject } from "../../kernel/index.ts"
import { clamped, flag, fresh, numeric, target, word, words } from "./fields.ts"
import { parseRequest } from "./parse.ts"

const common = { ...target, ...fresh }
const actTimeout = clamped(500, 60_000, 8_000)
const longTimeout = clamped(500, 120_000, 20_000)
const code = z.string().trim().min(1, "must not be empty").max(100_000)
const modifier = z.enum(["Alt", "Control", "ControlOrMeta", "Meta", "Shift"])
const values = z
  .union([z.array(z.union([z.string(), z.number().transform(String)])), z.string().transform((value) => [value])])
  .pipe(z.array(z.string().max(2_000)).min(1, "must not be empty").max(200))

const coordinate = numeric(z.number().min(-100_000).max(100_000)).optional()
/** A place on the page: an element, a point in its box, or a point of the view. */
const place = {
  ref: word.optional(),
  x: coordinate.describe(
    "With a ref a point of its box: pixels from its left edge, or a share of its width where x and y are both between 0 and 1. Without a ref pixels of the view.",
  ),
  y: coordinate.describe("As x, from the top."),
}
type Place = { ref?: string | undefined; x?: number | undefined; y?: number | undefined }
const isPoint = ({ x, y }: Place) => (x === undefined) === (y === undefined)
const isPlace = (it: Place) => isPoint(it) && (it.ref !== undefined || it.x !== undefined)
const placeWords = "needs a ref, or x and y, or all three"

const click = z
  .object({
    ...common,
    kind: z.literal("click"),
    ...place,
    doubleClick: flag.default(false),
    button: z.enum(["left", "right", "middle"]).default("left"),
    modifiers: z.array(modifier).default([]),
    timeoutMs: actTimeout,
  })
  .refine(isPlace, { error: placeWords })
const type = z.object({
  ...common,
  kind: z.literal("type"),
  ref: word,
  text: words(z.string().max(100_000)),
  submit: flag.default(false),
  slowly: flag.default(false),
  mode: z
    .enum(["replace", "append", "caret"])
    .default("replace")
    .describe("Over all that the field holds, behind it, or where the text cursor is."),
  timeoutMs: actTimeout,
})
const press = z.object({
  ...common,
  kind: z.literal("press"),
  ref: word
    .optional()
    .describe("Is given the focus first, without a click. Without it the key is for what has the focus."),
  key: words(z.string().min(1, "must not be empty").max(60)),
  delayMs: clamped(0, 10_000, 0),
  timeoutMs: actTimeout,
})
const hover = z
  .object({ ...common, kind: z.literal("hover"), ...place, timeoutMs: actTimeout })
  .refine(isPlace, { error: placeWords })
const scrollIntoView = z.object({ ...common, kind: z.literal("scrollIntoView"), ref: word, timeoutMs: longTimeout })
const scroll = z
  .object({
    ...common,
    kind: z.literal("scroll"),
    ...place,
    ref: word.optional().describe("What scrolls, or something inside it; without it the page."),
    direction: z.enum(["down", "up", "left", "right"]).default("down"),
    pages: numeric(z.number().min(0.1).max(50)).optional().describe("How many views far; default 0.8."),
    pixels: numeric(z.number().int().min(1).max(1_000_000)).optional(),
    to: z.enum(["start", "end"]).optional().describe("All the way instead."),
    text: z.string().trim().min(1).max(1_000).optional().describe("Until these words are in view."),
    timeoutMs: longTimeout,
  })
  .refine(
    ({ pages, pixels, to, text }) => [pages, pixels, to, text].filter((way) => way !== undefined).length <= 1,
    "pages, pixels, to and text exclude each other",
  )
  .refine(isPoint, "x and y go together")
  .refine(
    ({ x, to, text }) => x === undefined || (to === undefined && text === undefined),
    "at a point the mouse's wheel is turned: say how far with pages or pixels",
  )
const drag = z
  .object({
    ...common,
    kind: z.literal("drag"),
    startRef: word.optional(),
    startX: coordinate.describe("Where it is taken, as x of click."),
    startY: coordinate,
    endRef: word.optional(),
    endX: coordinate.describe("Where it is let go, as x of click; it may lie outside the box of endRef."),
    endY: coordinate,
    place: z
      .enum(["on", "before", "after"])
      .default("on")
      .describe("Of a list's items: dropped on endRef, or between it and its neighbour."),
    timeoutMs: actTimeout,
  })
  .refine(({ startRef, startX, startY }) => isPlace({ ref: startRef, x: startX, y: startY }), {
    error: "needs a startRef, or startX and startY",
  })
  .refine(({ endRef, endX, endY }) => isPlace({ ref: endRef, x: endX, y: endY }), {
    error: "needs an endRef, or endX and endY",
  })
  .refine(({ place, endRef, endX }) => place === "on" || (endRef !== undefined && endX === undefined), {
    error: "before and after are places beside an endRef, without endX and endY",
  })
const select = z.object({ ...common, kind: z.literal("select"), ref: word, values, timeoutMs: actTimeout })

const field = z
  .object({
    ref: word,
    /** What the field is; looked up in the page when not given. */
    type: z.string().trim().toLowerCase().max(40).optional(),
    value: z
      .union([z.string().max(100_000), z.number(), z.boolean(), z.array(z.string().max(2_000)).max(200)])
      .default(""),
    secret: z
      .string()
      .trim()
      .min(1)
      .max(64)
      .optional()
      .describe("Name of a kept secret, instead of a value; it is filled in only on the origins that it is bound to."),
  })
  .refine(({ value, secret }) => secret === undefined || value === "", "has a value and a secret: it takes one of them")
const fill = z.object({
  ...common,
  kind: z.literal("fill"),
  fields: z.array(field).min(1, "must name at least one field").max(200),
  submit: flag.default(false).describe("Press Enter in the last field."),
  timeoutMs: actTimeout,
})
const side = numeric(z.number().min(1).max(10_000)).transform(Math.floor)
const resize = z.object({ ...common, kind: z.literal("resize"), width: side, height: side, timeoutMs: actTimeout })

const seen = words(z.string().min(1, "must not be empty").max(10_000))
const wait = z
  .object({
    ...common,
    kind: z.literal("wait"),
    timeMs: numeric(z.number().min(0).max(600_000)).optional(),
    text: seen.optional(),
    textGone: seen.optional(),
    selector: z.string().trim().min(1, "must not be empty").max(2_000).optional(),
    url: word.optional(),
    loadState: z.enum(["load", "domcontentloaded", "networkidle"]).optional(),
    fn: code.optional(),
    timeoutMs: longTimeout,
  })
  .refine(
    (request) => conditions.some((name) => request[name] !== undefined),
    "wait needs at least one of timeMs, text, textGone, selector, url, loadState, fn",
  )
const conditions = ["timeMs", "text", "textGone", "selector", "url", "loadState", "fn"] as const

const evaluate = z.object({
  ...common,
  kind: z.literal("evaluate"),
  fn: code,
  ref: word.optional(),
  timeoutMs: longTimeout,
})
const close = z.object({ ...target, kind: z.literal("close"), timeoutMs: actTimeout })

const schemas = [
  click,
  type,
  press,
  hover,
  scrollIntoView,
  scroll,
  drag,
  select,
  fill,
  resize,
  wait,
  evaluate,
  close,
] as const
export const actRequest = z.discriminatedUnion("kind", schemas)

export type ActRequest = z.infer<typeof actRequest>
export type ClickRequest = z.infer<typeof click>
export type TypeRequest = z.infer<typeof type>
export type HoverRequest = z.infer<typeof hover>
export type PressRequest = z.infer<typeof press>
export type ScrollRequest = z.infer<typeof scroll>
export type DragRequest = z.infer<typeof drag>
export type SelectRequest = z.infer<typeof select>
export type FillRequest = z.infer<typeof fill>
export type ResizeRequest = z.infer<typeof resize>
export type WaitRequest = z.infer<typeof wait>
export type EvaluateRequest = z.infer<typeof evaluate>

export const actKinds = schemas.map((schema) => schema.shape.kind.value)

/** An act request; says what is wrong with the kind, or with a selector, before anything else. */
export function parseAct(body: Json | undefined): ActRequest {
  if (!isJsonObject(body)) throw new AppError("bad-request", "The body must be a JSON object")
  const kind = body["kind"]
  if (typeof kind !== "string" || !(actKinds as readonly string[]).includes(kind)) {
    const said = typeof kind === "string" ? `'${kind.slice(0, 40)}' is not supported` : "is missing"
    throw new AppError("bad-request", `kind ${said}; these work: ${actKinds.join(", ")}, run`)
  }
  if (body["selector"] !== undefined && kind !== "wait") {
    throw new AppError(
      "selector-unsupported",
      "Actions do not take CSS selectors: a selector may match another element than the one you saw",
      {
        hint: "Take a snapshot (GET /snapshot) and give the ref of the element, such as 12",
      },
    )
  }
  return parseRequest(actRequest, withSecrets(body))
}

/** `{"secret": name}` in the place of a text or a value is a secret of the field; typing one is filling it in. */
function withSecrets(body: JsonObject): JsonObject {
  if (body["kind"] === "type") {
    const { text, secret = secretIn(text), ref, slowly: _slowly, mode: _mode, ...rest } = body
    return secret === undefined ? body : { ...rest, kind: "fill", fields: [{ ref: ref ?? null, secret }] }
  }
  const { fields } = body
  if (body["kind"] !== "fill" || !Array.isArray(fields)) return body
  const read = fields.map((each) => {
    const secret = isJsonObject(each) ? secretIn(each["value"]) : undefined
    if (secret === undefined) return each
    const { value: _named, ...rest } = each as JsonObject
    return { ...rest, secret }
  })
  return { ...body, fields: read }
}

function secretIn(value: Json | undefined): Json | undefined {
  return isJsonObject(value) ? value["secret"] : undefined
}
