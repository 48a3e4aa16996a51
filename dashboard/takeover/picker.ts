// What the browser itself would have opened in the tab, and no picture shows: its list, as a list of this page; its calendar
// or colours, as those of the device in hand.
import type { HandEvent, Shown } from "./connection.ts"

type Picker = NonNullable<Shown["picker"]>
type Make = <Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  fields?: Partial<HTMLElementTagNameMap[Name]>,
  inside?: readonly (Node | string)[],
) => HTMLElementTagNameMap[Name]

/** Fills the section; the answer goes out once. */
export function showPicker(section: HTMLElement, picker: Picker, send: (event: HandEvent) => void, make: Make): void {
  const pick = (answer: { option?: number; value?: string }) => {
    section.hidden = true
    send({ kind: "pick", ...answer })
  }
  const close = make("button", { type: "button", textContent: picker.type === "file" ? "OK" : "Cancel" })
  close.addEventListener("click", () => pick({}))
  section.ariaLabel = picker.name || "Choose"
  section.replaceChildren(make("p", { textContent: picker.name }), ...content(picker, pick, make), close)
  const [first] = section.querySelectorAll<HTMLElement>("[aria-pressed=true], input, button:not(:disabled)")
  first?.focus()
}

function content(picker: Picker, pick: (answer: { option?: number; value?: string }) => void, make: Make): Node[] {
  if (picker.type === "file") {
    const words =
      "The page wants a file. Those of your device cannot be sent from here: give the tab back, and ask the agent to upload it."
    return [make("p", { textContent: words })]
  }
  if (picker.type !== "list") {
    const { type, value } = picker
    const field = make("input", { type, value, ariaLabel: picker.name || type })
    const ok = make("button", { type: "button", className: "main", textContent: "OK" })
    ok.addEventListener("click", () => pick({ value: field.value }))
    return [field, ok, document.createTextNode(" ")]
  }
  const { options, left } = picker
  const list = make("div", { className: "options" })
  let group = ""
  for (const [option, { label, group: of, disabled, selected }] of options.entries()) {
    if (of !== group) list.append(make("p", { textContent: of }))
    group = of
    const button = make("button", { type: "button", textContent: label || "\u00a0", disabled })
    button.setAttribute("aria-pressed", String(selected))
    button.addEventListener("click", () => pick({ option }))
    list.append(button)
  }
  const rest = left > 0 ? [make("p", { textContent: `And ${left} more: type the first letters in the tab.` })] : []
  return [list, ...rest]
}
