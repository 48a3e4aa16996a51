// Our roles and names of what can be acted on, beside those that the browser computes for screen readers.
import { RawTab } from "../../bench/browser/raw-tab.ts"
import type { BrowserBench } from "./browser-service.ts"

export interface Compared {
  role: string
  name: string
  /** As the browser has them; undefined where its tree leaves the element out. */
  browser: { role: string; name: string } | undefined
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
}

const interactive =
  /^(button|link|textbox|searchbox|checkbox|radio|switch|combobox|listbox|option|slider|spinbutton|tab|treeitem|menuitem\w*)$/

const mark = "data-compared"

/** The browser's own words for what the standard calls otherwise. */
const sameRole: Record<string, string> = {
  ColorWell: "button",
  Date: "textbox",
  DateTime: "textbox",
  DisclosureTriangle: "button",
  DisclosureTriangleGrouped: "button",
  InputTime: "textbox",
  MenuListOption: "option",
  PopUpButton: "combobox",
  TextField: "textbox",
  ToggleButton: "button",
}

/** Of the page that the tab shows; frames of other processes are left out. */
export async function compareNames(bench: BrowserBench, targetId: string): Promise<Compared[]> {
  const { refs } = (await bench.call("GET", `/snapshot?targetId=${targetId}&interactive=true&maxChars=0`)).body
  const ours = Object.entries(refs as Record<string, { role: string; name?: string }>).filter(([, { role }]) =>
    interactive.test(role),
  )
  for (const [ref] of ours) {
    // The ref of a control that only its label draws is the label's.
    const fn = `(element) => (element.control ?? element).setAttribute("${mark}", "${ref}")`
    await bench.call("POST", "/act", { kind: "evaluate", targetId, ref, fn })
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
      if (backendNodeId === undefined) continue
      const parameters = { backendNodeId, fetchRelatives: false }
      const { nodes } = (await raw.send("Accessibility.getPartialAXTree", parameters)) as { nodes: AxNode[] }
      const node = nodes.find((each) => each.backendDOMNodeId === backendNodeId && !each.ignored)
      const theirs = node?.role?.value ?? ""
      const plain = (text: string) => text.replace(/\s+/g, " ").trim().slice(0, 190)
      compared.push({
        role,
        name: plain(name),
        browser: node ? { role: sameRole[theirs] ?? theirs, name: plain(node.name?.value ?? "") } : undefined,
      })
    }
    return compared
  } finally {
    raw.close()
  }
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

export function isSame({ role, name, browser }: Compared): boolean {
  return browser?.role === role && browser.name === name
}
