// The browser's own accessibility tree, for inspection: its nodes cannot be acted on. Works without the library.
import type { Operation, Tab } from "../tab.ts"

export interface AriaNode {
  /** `ax<n>`: a name for this answer only. */
  ref: string
  role: string
  name: string
  value?: string
  description?: string
  backendDOMNodeId?: number
  depth: number
}

interface AxValue {
  value?: unknown
}

interface AxNode {
  nodeId: string
  parentId?: string
  childIds?: string[]
  ignored?: boolean
  role?: AxValue
  name?: AxValue
  value?: AxValue
  description?: AxValue
  backendDOMNodeId?: number
}

export async function takeAria(
  tab: Tab,
  limit: number,
  operation: Operation,
): Promise<{ nodes: AriaNode[]; truncated: boolean }> {
  const { nodes } = await tab.session.send<{ nodes: AxNode[] }>(
    "Accessibility.getFullAXTree",
    {},
    { signal: operation.signal, timeoutMs: 0 },
  )
  const byId = new Map(nodes.map((node) => [node.nodeId, node]))
  const shown: AriaNode[] = []
  const stack = nodes.filter((node) => node.parentId === undefined).map((node) => ({ node, depth: 0 }))
  stack.reverse()
  while (stack.length > 0 && shown.length < limit) {
    const { node, depth } = stack.pop() as { node: AxNode; depth: number }
    if (!node.ignored) shown.push(toAria(node, shown.length + 1, depth))
    const inside = node.ignored ? depth : depth + 1
    // Of a page in which something was filled that nobody is to see, what fields hold is left out.
    if (tab.concealment.isUsed && isField(node)) {
      delete shown.at(-1)?.value
      continue
    }
    for (const id of (node.childIds ?? []).toReversed()) {
      const child = byId.get(id)
      if (child) stack.push({ node: child, depth: inside })
    }
  }
  return { nodes: shown, truncated: stack.length > 0 }
}

function isField({ role, ignored }: AxNode): boolean {
  return !ignored && /^(?:textbox|searchbox|combobox|spinbutton)$/i.test(text(role))
}

function toAria(node: AxNode, number: number, depth: number): AriaNode {
  const value = text(node.value)
  const description = text(node.description)
  return {
    ref: `ax${number}`,
    role: text(node.role) || "unknown",
    name: text(node.name),
    ...(value === "" ? {} : { value }),
    ...(description === "" ? {} : { description }),
    ...(node.backendDOMNodeId === undefined ? {} : { backendDOMNodeId: node.backendDOMNodeId }),
    depth,
  }
}

function text(value: AxValue | undefined): string {
  return value?.value === undefined ? "" : String(value.value)
}
