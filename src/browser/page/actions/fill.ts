// act: select and fill. Every field is looked at before the first one is changed: all of them are filled, or none.
import { AppError } from "../../../kernel/index.ts"
import type { FillRequest, SelectRequest } from "../../requests/index.ts"
import { callAgent } from "../frames.ts"
import type { FieldState, SelectState } from "../inject/form.ts"
import { parseRef, type RefEntry, staleRef } from "../refs.ts"
import { click } from "./click.ts"
import type { Acting } from "./mouse.ts"
import { reach } from "./reach.ts"
import { type } from "./type.ts"

export async function select(acting: Acting, request: SelectRequest): Promise<void> {
  const { tab, operation } = acting
  const entry = tab.refs.resolve(request.ref, tab)
  await checkUsable(acting, entry, parseRef(request.ref), false)
  await choose(acting, entry, request)
  operation.signal.throwIfAborted()
}

function checkUsable({ tab, operation }: Acting, entry: RefEntry, number: number, editable: boolean) {
  return reach(tab, entry, number, { editable, point: false, arm: false, settle: false }, operation)
}

async function choose(
  { operation, progress }: Acting,
  entry: RefEntry,
  request: { ref: string; values: string[] },
): Promise<void> {
  const number = parseRef(request.ref)
  const { id } = entry
  progress.sent = true
  const state = await callAgent<SelectState>(entry.world, "select", { id, values: request.values }, operation.signal)
  switch (state.kind) {
    case "selected":
      return
    case "gone":
      throw staleRef(number)
    case "not-select":
      throw new AppError("bad-request", `The element of ref ${number} is not a list of options`, {
        hint: "Menus made by the page are opened and chosen from with clicks",
      })
    case "single":
      throw new AppError("bad-request", `The list of ref ${number} takes one value only`)
    case "missing":
      throw new AppError("bad-request", `The list of ref ${number} has no option '${request.values[state.index]}'`, {
        hint: "Give the value or the label of an option as a snapshot shows it",
      })
  }
}

type Field = FillRequest["fields"][number]
type Step = () => Promise<void>

export async function fill(acting: Acting, request: FillRequest): Promise<void> {
  const steps: Step[] = []
  for (const field of request.fields) steps.push(await prepare(acting, field))
  for (const step of steps) await step()
}

/** Checks a field and gives the step that fills it. */
async function prepare(acting: Acting, field: Field): Promise<Step> {
  const { tab, operation } = acting
  const entry = tab.refs.resolve(field.ref, tab)
  const number = parseRef(field.ref)
  const { kind, checked } = await callAgent<FieldState>(entry.world, "field", { id: entry.id }, operation.signal)
  if (kind === "gone") throw staleRef(number)
  const wanted = kindOf(field.type) ?? kind
  if (wanted !== kind && (wanted !== "text" || kind !== "other")) {
    throw new AppError("bad-request", `The element of ref ${number} is not a ${field.type}`, {
      hint: "Leave type out, and the field is filled as what it is",
    })
  }
  await checkUsable(acting, entry, number, kind === "text" || kind === "other")
  if (kind === "select") {
    const values = Array.isArray(field.value) ? field.value : [String(field.value)]
    return () => choose(acting, entry, { ref: field.ref, values })
  }
  if (kind === "checkbox" || kind === "radio") {
    if (isOn(field.value) === checked) return () => Promise.resolve()
    if (kind === "radio" && checked) {
      throw new AppError("bad-request", `The radio button of ref ${number} cannot be switched off`, {
        hint: "Switch on another one of its group",
      })
    }
    const plain = { ref: field.ref, doubleClick: false, button: "left" as const, modifiers: [] }
    return () => click(tab, plain, operation, acting.progress)
  }
  const text = Array.isArray(field.value) ? field.value.join(",") : String(field.value)
  return () =>
    type(tab, { ref: field.ref, text, submit: false, slowly: false, mode: "replace" }, operation, acting.progress)
}

function kindOf(type: string | undefined): FieldState["kind"] | undefined {
  if (type === undefined) return undefined
  if (type === "checkbox" || type === "switch") return "checkbox"
  if (type === "radio") return "radio"
  if (type === "select" || type === "combobox" || type === "listbox") return "select"
  return "text"
}

function isOn(value: Field["value"]): boolean {
  return value === true || value === 1 || value === "1" || value === "true"
}
