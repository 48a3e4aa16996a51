// One visit of a document that gives the lines of its snapshot. Runs in the page (see agent.ts).
// Numbers of elements and places of frames are left as marks; the gateway puts in what is valid for the whole tab.
import { forgetGone, numberOf, type PageAgent, rootOf } from "../agent.ts"
import { hasChanged, isUnchanged, watchChanges } from "../changes.ts"
import { setsCursors } from "../cursors.ts"
import type { PageDocument, PageElement, PageStyle } from "../dom.ts"
import { titleOf } from "../hit.ts"
import { generatingElements } from "../names.ts"
import { roleTables } from "../roles.ts"
import { tellApart, tellChips, tellPlaces } from "./apart.ts"
import { visitChildren } from "./children.ts"
import { visitListElement, visitListText } from "./list.ts"
import { dropIdle, flushText, type Walk, type WalkOptions, type WalkReport } from "./state.ts"
import { visitTreeElement, visitTreeText } from "./tree.ts"

/**
 * A report as JSON on the first line, then the lines: one flat text, since a page of 20,000 controls is large in JSON.
 * "" for a walk that would surely give the same as the last one.
 */
export function walkPage(agent: PageAgent, options: WalkOptions): string {
  if (options.repeated && isUnchanged(agent)) return ""
  forgetGone(agent)
  agent.suspects = []
  agent.roots = []
  agent.labels = new Map()
  const walk: Walk = {
    agent,
    tables: roleTables(),
    options,
    interactive: options.interactive,
    visitElement: options.interactive ? visitListElement : visitTreeElement,
    visitText: options.interactive ? visitListText : visitTreeText,
    maxDepth: options.depth < 0 ? 1000 : options.depth,
    cursors: setsCursors(agent),
    generating: options.interactive ? new Set() : generatingElements(),
    boards: new Map(),
    asSeen: { visibilityProperty: true },
    nesting: 0,
    suspects: 0,
    folded: 0,
    changed: false,
    lines: [],
    refs: [],
    frames: [],
    text: "",
    textDepth: 0,
    textNode: null,
    referred: new Set(),
    mark: "",
    elements: [],
    marked: new Map(),
    captions: [],
    captioned: new Set(),
    focused: focusedElement(),
  }
  const changed = hasChanged(agent)
  walkFrom(walk, options.selector)
  flushText(walk)
  if (options.interactive && options.context) {
    dropIdle(walk)
    tellApart(walk)
    tellPlaces(walk)
    tellChips(walk)
  }
  agent.labels = new Map()
  watchChanges(agent)
  const { lines, refs, frames, folded, problem } = walk
  const flat: number[] = []
  for (const [line, id, , , interactive] of refs) flat.push(line, id, interactive ? 1 : 0)
  const report: WalkReport = { refs: flat, frames, suspects: agent.suspects.length, folded, changed, title: titleOf() }
  if (problem) report.problem = problem
  return `${JSON.stringify(report)}\n${lines.join("\n")}`
}

function walkFrom(walk: Walk, selector: string): void {
  const root = document.body ?? document.documentElement
  if (!root) return
  const inherited = { silent: false, unseen: false, cursor: getComputedStyle(root).cursor, parts: false }
  if (selector === "") {
    // The whole document is an editor (the frame of a text editor, say): it is a field like any other.
    if (root.isContentEditable) return walk.visitElement(walk, root, 0, inherited)
    return visitChildren(walk, root, 0, inherited)
  }
  try {
    const found = document.querySelectorAll(selector)
    if (found.length === 1) walk.visitElement(walk, found[0] as PageElement, 0, { ...inherited, cursor: "auto" })
    else walk.problem = found.length === 0 ? "none" : "several"
  } catch {
    walk.problem = "bad"
  }
}

/** The element with the focus, also inside shadow roots. */
export function focusedElement(): PageElement | null {
  let focused = document.activeElement
  for (let steps = 0; focused && steps < 20; steps += 1) {
    const inner: PageElement | null = rootOf(focused)?.activeElement ?? null
    if (!inner) break
    focused = inner
  }
  return focused
}

/** The number of the one frame element that the selector fits; 0 when there is none, -1 for several. */
export function numberOfSelector(agent: PageAgent, selector: string): number {
  const found = Array.from(document.querySelectorAll(selector)).filter((element) => /^i?frame$/.test(element.localName))
  if (found.length !== 1) return found.length === 0 ? 0 : -1
  return numberOf(agent, found[0] as PageElement)
}

export const walkFunctions = [numberOfSelector, walkPage, walkFrom, focusedElement]

declare const document: PageDocument
declare const getComputedStyle: (element: PageElement) => PageStyle
