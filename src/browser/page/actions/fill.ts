// act: select and fill. Every field is looked at before the first one is changed: all of them are filled, or none.
import { AppError } from "../../../kernel/index.ts"
import type { FillRequest, SelectRequest } from "../../requests/index.ts"
import { callAgent } from "../frames.ts"
import type { FieldState, SelectState } from "../inject/form.ts"
import { parseRef, type RefEntry, staleRef } from "../refs.ts"
import { type Filling, fillSecret, originOf } from "../concealment.ts"
import { click } from "./click.ts"
import { parseKey, sendKey } from "./keyboard.ts"
import type { Acting } from "./mouse.ts"
import { reach } from "./reach.ts"
import { type, wrongForm } from "./type.ts"

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
  { tab, operation, progress }: Acting,
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
    case "marked":
      // Editors look at what is selected when a key or the mouse is let go.
      return await sendKey(tab.session, parseKey("Shift"), { signal: operation.signal })
    case "gone":
      throw staleRef(number)
    case "no-words":
      throw new AppError("bad-request", `The text of ref ${number} does not hold '${request.values[0]}'`, {
        hint: "Give words that stand in one line of it, as a snapshot shows them",
      })
    case "secret":
      throw new AppError("forbidden", `What the field of ref ${number} holds is not looked at`, {
        hint: "It is a secret, or a person typed it; fill the field anew, or leave it as it is",
      })
    case "not-select":
      throw new AppError("bad-request", `The element of ref ${number} is not a list of options`, {
        hint: "Menus made by the page are opened and chosen from with clicks",
      })
    case "single":
      throw oneOnly(number)
    case "missing":
      throw new AppError("bad-request", `The list of ref ${number} has no option '${request.values[state.index]}'`, {
        hint: "Give the value or the label of an option as a snapshot shows it",
      })
  }
}

function oneOnly(number: number): AppError {
  return new AppError("bad-request", `The list of ref ${number} takes one value only`)
}

type Field = FillRequest["fields"][number]
type Step = () => Promise<void>

/** A password manager may ask its person first. */
export const revealMs = 30_000

export async function fill(given: Acting, request: FillRequest): Promise<void> {
  const secrets = await revealAll(given, request.fields)
  const { operation } = given
  // What was left of the time for secrets is not for waiting until a field can be used.
  const spare = secrets.of.size === 0 ? 0 : Math.max(0, revealMs - secrets.tookMs)
  const acting = { ...given, operation: { ...operation, deadline: operation.deadline - spare } }
  const steps: Step[] = []
  for (const field of request.fields) steps.push(await prepare(acting, field, secrets))
  for (const step of steps) await step()
  if (request.submit) await sendKey(acting.tab.session, parseKey("Enter"), { signal: acting.operation.signal })
}

/** Checks a field and gives the step that fills it. */
async function prepare(acting: Acting, field: Field, secrets: Revealed): Promise<Step> {
  const { tab, operation } = acting
  const entry = tab.refs.resolve(field.ref, tab)
  const number = parseRef(field.ref)
  const text = Array.isArray(field.value) ? field.value.join(",") : String(field.value)
  const asked = { id: entry.id, text }
  const { kind, checked, multiple, takes } = await callAgent<FieldState>(entry.world, "field", asked, operation.signal)
  if (kind === "gone") throw staleRef(number)
  const wanted = kindOf(field.type) ?? kind
  if (wanted !== kind && (wanted !== "text" || kind !== "other")) {
    throw new AppError("bad-request", `The element of ref ${number} is not a ${field.type}`, {
      hint: "Leave type out, and the field is filled as what it is",
    })
  }
  await checkUsable(acting, entry, number, kind === "text" || kind === "other")
  const filling = secrets.of.get(field)
  if (filling) {
    return async () => {
      acting.progress.sent = true
      await fillSecret(acting.tab, filling, acting.operation)
    }
  }
  if (kind === "select") {
    const values = Array.isArray(field.value) ? field.value : [text]
    if (values.length > 1 && !multiple) throw oneOnly(number)
    // Its options are looked at in its turn: a field before it may be what brings them.
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
  if (!takes) throw wrongForm(number)
  return () =>
    type(tab, { ref: field.ref, text, submit: false, slowly: false, mode: "replace" }, operation, acting.progress)
}

interface Revealed {
  of: ReadonlyMap<Field, Filling>
  tookMs: number
}

/** Before anything is filled in; each is held against its page once more when it is. */
async function revealAll({ tab, operation, reveal }: Acting, fields: readonly Field[]): Promise<Revealed> {
  const began = tab.clock.monotonic()
  const of = new Map<Field, Filling>()
  for (const field of fields) {
    const { ref, secret: name } = field
    if (name === undefined) continue
    if (!reveal) {
      throw new AppError("forbidden", "Secrets are not filled in by this caller", { hint: "Ask the owner to do it" })
    }
    const origin = await originOf(tab, ref, operation.signal)
    of.set(field, { ref, name, origin, ...(await reveal(name, origin, operation.signal)) })
  }
  return { of, tookMs: tab.clock.monotonic() - began }
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
