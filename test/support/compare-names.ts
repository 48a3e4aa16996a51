// Our roles and names of what can be acted on, beside those that the browser computes for screen readers.
import { RawTab } from "../../bench/browser/raw-tab.ts"
import type { BrowserBench } from "./browser-service.ts"

export interface Compared {
  role: string
  name: string
  /** As the browser has them; undefined where its tree leaves the element out. */
  browser: { role: string; name: string } | undefined
  seen: Seen
}

/** Of the element, for explaining a difference. */
interface Seen {
  /** It stands in the shadow root of a component. */
  inComponent: boolean
  /** The style sheet writes its letters otherwise. */
  recased: boolean
  /** It has places where a line may break. */
  breaks: boolean
}

interface DomNode {
  backendNodeId: number
  nodeType: number
  attributes?: string[]
  children?: DomNode[]
  shadowRoots?: DomNode[]
  contentDocument?: DomNode
}

interface AxNode {
  backendDOMNodeId?: number
  ignored: boolean
  role?: { value: string }
  name?: { value: string }
  properties?: { name: string; value: { value?: unknown } }[]
}

/** Controls, and the parts of tables, lists and trees that have refs. */
const named =
  /^(button|link|textbox|searchbox|checkbox|radio|switch|combobox|listbox|option|slider|spinbutton|separator|tab|treeitem|menuitem\w*|grid|treegrid|row|cell|gridcell|columnheader|rowheader|listitem)$/

/** Of a plain element that takes clicks the role alone is compared: screen readers are given no name of one. */
const plain = "generic"

const mark = "data-compared"

/** The browser's own words for what the standard calls otherwise. */
const sameRole: Record<string, string> = {
  ColorWell: "button",
  Date: "textbox",
  DateTime: "textbox",
  DisclosureTriangle: "button",
  DisclosureTriangleGrouped: "button",
  InputTime: "textbox",
  LabelText: "generic",
  MenuListOption: "option",
  PopUpButton: "combobox",
  TextField: "textbox",
  ToggleButton: "button",
  none: "generic",
  splitter: "separator",
}

/** Of the page that the tab shows; frames of other processes are left out. */
export async function compareNames(bench: BrowserBench, targetId: string): Promise<Compared[]> {
  const { refs } = (await bench.call("GET", `/snapshot?targetId=${targetId}&mode=efficient&maxChars=0`)).body
  const ours = Object.entries(refs as Record<string, { role: string; name?: string }>).filter(
    ([, { role }]) => named.test(role) || role === plain,
  )
  const seen = new Map<string, Seen>()
  for (const [ref] of ours) {
    // The ref of a control that only its label draws is the label's.
    const fn = `(element) => {
      const control = element.control ?? element
      control.setAttribute("${mark}", "${ref}")
      // Of a field inside a component screen readers may be told by the component itself.
      const { host } = control.getRootNode()
      if (host && !host.hasAttribute("${mark}")) host.setAttribute("${mark}", "host ${ref}")
      const all = [element, ...element.querySelectorAll("*")].slice(0, 50)
      return {
        inComponent: element.getRootNode() !== document,
        recased: all.some((each) => getComputedStyle(each).textTransform !== "none"),
        breaks: all.some((each) => each.localName === "wbr") || element.textContent.includes("\u200b"),
      }
    }`
    const { body } = await bench.call("POST", "/act", { kind: "evaluate", targetId, ref, fn })
    if (body.ok) seen.set(ref, body.result)
  }
  const { cdpPort } = (await bench.call("GET", "/")).body
  const raw = await RawTab.open(`ws://127.0.0.1:${cdpPort}/devtools/page/${targetId}`)
  try {
    const { root } = (await raw.send("DOM.getDocument", { depth: -1, pierce: true })) as { root: DomNode }
    const byRef = new Map<string, number>()
    collect(root, byRef)
    const compared: Compared[] = []
    for (const [ref, { role, name = "" }] of ours) {
      const backendNodeId = byRef.get(ref)
      const about = seen.get(ref)
      if (backendNodeId === undefined || !about) continue
      const own = await tellOf(raw, backendNodeId)
      const host = own ? undefined : await tellOf(raw, byRef.get(`host ${ref}`))
      const told = own ?? (host?.role === role ? host : undefined)
      if (role === plain) {
        const browser = { role: own?.role ?? plain, name: "" }
        compared.push({ role, name: "", seen: about, browser })
        continue
      }
      const tidy = (text: string) =>
        text
          .replaceAll(/[\u200b\ufeff]/g, "")
          .replace(/\s+/g, " ")
          .trim()
          .slice(0, 190)
      compared.push({
        role,
        name: tidy(name),
        seen: about,
        browser: told && { role: told.role, name: tidy(told.name) },
      })
    }
    return compared
  } finally {
    raw.close()
  }
}

/** What the browser tells screen readers of an element, in the standard's words; undefined where it leaves it out. */
async function tellOf(raw: RawTab, backendNodeId: number | undefined): Promise<Compared["browser"]> {
  if (backendNodeId === undefined) return undefined
  const parameters = { backendNodeId, fetchRelatives: false }
  const { nodes } = (await raw.send("Accessibility.getPartialAXTree", parameters)) as { nodes: AxNode[] }
  const node = nodes.find((each) => each.backendDOMNodeId === backendNodeId && !each.ignored)
  if (!node) return undefined
  const role = node.role?.value ?? ""
  // A box that takes rich text has no role of its own: that it does is a property beside it.
  const isEditor =
    role === "generic" && node.properties?.some(({ name, value }) => name === "editable" && value.value === "richtext")
  return { role: isEditor ? "textbox" : (sameRole[role] ?? role), name: node.name?.value ?? "" }
}

function collect(node: DomNode, byRef: Map<string, number>): void {
  const at = node.attributes?.indexOf(mark) ?? -1
  if (at >= 0) byRef.set(node.attributes?.[at + 1] ?? "", node.backendNodeId)
  const inside = [
    ...(node.children ?? []),
    ...(node.shadowRoots ?? []),
    ...(node.contentDocument ? [node.contentDocument] : []),
  ]
  for (const child of inside) collect(child, byRef)
}

/** Whether it is worked as a whole: the rest are parts of tables and lists, and boxes without a role. */
export function isControl({ role }: Compared): boolean {
  return !/^(generic|grid|treegrid|row|cell|gridcell|columnheader|rowheader|listitem)$/.test(role)
}

export function isSame({ role, name, browser }: Compared): boolean {
  return browser?.role === role && browser.name === name
}

interface Explanation {
  why: string
  /** Ours says more to whoever works the page, and stays: such a difference is no mistake, and is counted apart. */
  meant: boolean
  holds(each: Compared): boolean
}

/** Why ours may differ from the browser's, each with how it is known. What none of these explains is a mistake of ours. */
export const explanations: Record<string, Explanation> = {
  "drawn by something else": {
    why: "A box to tick or a list that is not drawn itself is worked by the label or component that draws it; screen readers are told of that one, or of nothing. Without the line it could not be worked.",
    meant: true,
    holds: ({ role, browser }) => browser === undefined && /^(checkbox|radio|switch|combobox|listbox)$/.test(role),
  },
  "field with another role": {
    why: "A native field takes text or a choice whatever role the page has given it; to screen readers it is only that role (`alert`), which nobody would type into.",
    meant: true,
    holds: ({ role, name, browser }) =>
      /^(textbox|searchbox|combobox|spinbutton|slider|checkbox|radio)$/.test(role) &&
      /^(alert|status|log|group|generic|none)$/.test(browser?.role ?? "") &&
      browser?.name === name,
  },
  "letters of the style sheet": {
    why: "The browser tells words as the style sheet writes them (`text-transform`); ours are those of the page, which searching, scripts and its makers know.",
    meant: true,
    holds: ({ role, name, browser, seen }) =>
      seen.recased && browser?.role === role && browser.name.toLowerCase() === name.toLowerCase(),
  },
  "named by its component": {
    why: "A field in the shadow root of a component has the name that the component was given; the browser names the component alone, and the field, which takes the keys, not at all.",
    meant: true,
    holds: ({ role, name, browser, seen }) =>
      seen.inComponent && name !== "" && browser?.role === role && browser.name === "",
  },
  "opened in its label": {
    why: "Of a label that holds a field and the calendar that opens for it, the calendar's words are no part of the name: the name of a field does not change with what is open.",
    meant: true,
    holds: ({ role, name, browser }) =>
      /^(textbox|searchbox|combobox|spinbutton)$/.test(role) &&
      name !== "" &&
      browser?.role === role &&
      browser.name.startsWith(`${name} `),
  },
  "places to break": {
    why: "Where a line may break (`<wbr>`, an address in pieces) the browser puts a space into the name; people see none, and ours has none.",
    meant: true,
    holds: ({ role, name, browser, seen }) =>
      seen.breaks && browser?.role === role && browser.name.replaceAll(" ", "") === name.replaceAll(" ", ""),
  },
  "row of cells": {
    why: "A row that takes the focus has the words of its cells for its name; ours stands before its cells, which have lines of their own and would be said twice.",
    meant: true,
    holds: ({ role, name, browser }) => role === "row" && name === "" && browser?.role === role,
  },
  "words of an item": {
    why: "An item of a list or a row has no name of its words to screen readers, which read them as its content; the line of one that takes clicks says them.",
    meant: true,
    holds: ({ role, name, browser }) =>
      /^(listitem|row)$/.test(role) && name !== "" && browser?.role === role && browser.name === "",
  },
  spaces: {
    why: "Whether words of neighbouring elements stand apart depends on how they are laid out; ours on what elements they are.",
    meant: false,
    holds: ({ role, name, browser }) =>
      browser?.role === role && browser.name.replaceAll(" ", "") === name.replaceAll(" ", ""),
  },
}

/** The explanation of a difference; undefined for none. */
export function explain(each: Compared): string | undefined {
  return Object.entries(explanations).find(([, { holds }]) => holds(each))?.[0]
}
