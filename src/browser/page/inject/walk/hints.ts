// What tells a control that has no name: of a field the words that stand beside it, of a picture what its makers call it
// (`[hint="trash"]`). A hint is a guess beside the name, never the name. Runs in the page (see agent.ts).
import type { PageElement, PageNode, PageStyle } from "../dom.ts"
import { textOf, tidy } from "../names.ts"

/** ` [hint="..."]`, or "" where there is nothing to tell or the line says enough. `isList`: in a flat list of controls. */
export function hintOf(element: PageElement, role: string, isList: boolean): string {
  const isField = /^(textbox|searchbox|combobox|listbox|spinbutton|slider|switch|checkbox|radio)$/.test(role)
  // In the full snapshot the words beside a field stand beside it.
  if (isField) return isList ? asHint(wordsBeside(element, role)) : ""
  if (!/^(generic|button|link|tab|img|option|menuitem\w*|treeitem|listitem)$/.test(role)) return ""
  if (element.querySelector("input,select,textarea,button,a,canvas,video,iframe,[role=button]")) return ""
  return tidy(textOf(element, { left: 200 }), 20) === "" ? asHint(signsOf(element)) : ""
}

function asHint(words: string): string {
  const plain = words.replaceAll("[", "(").replaceAll("]", ")").replaceAll(/["\\]/g, "'")
  return plain === "" ? "" : ` [hint="${plain}"]`
}

function wordsBeside(element: PageElement, role: string): string {
  const most = 40
  const root = element.getRootNode()
  const described = (element.getAttribute("aria-describedby") ?? "").split(/\s+/)
  const part = described.map((id) => root.getElementById?.(id)).find(Boolean)
  const description = part ? tidy(textOf(part, { left: 300 }), most) : ""
  if (description !== "") return description
  // Of a box to tick the words come behind, of all others before.
  const sides = /^(switch|checkbox|radio)$/.test(role)
    ? (["nextSibling", "previousSibling"] as const)
    : (["previousSibling", "nextSibling"] as const)
  let place: PageElement | null = element
  for (let steps = 0; place && place.localName !== "body" && steps < 4; steps += 1) {
    for (const side of sides) {
      const words = wordsOnSide(place, side, most)
      if (words !== "") return words
    }
    place = place.parentElement
    if (place && place.querySelectorAll(fieldsSelector()).length > 1) break
  }
  return ""
}

function fieldsSelector(): string {
  return "input:not([type=hidden]),select,textarea,[contenteditable=true],[role=combobox],[role=switch],[role=slider]"
}

/** The nearest words on one side among the siblings, up to the next field. */
function wordsOnSide(element: PageElement, side: "previousSibling" | "nextSibling", most: number): string {
  let node: PageNode | null = element[side]
  for (let steps = 0; node && steps < 4; steps += 1, node = node[side]) {
    if (node.nodeType === 3) {
      const words = tidy(node.nodeValue ?? "", most)
      if (words !== "") return words
    }
    if (node.nodeType !== 1) continue
    const sibling = node as PageElement
    if (/^(script|style|template)$/.test(sibling.localName) || !sibling.checkVisibility()) continue
    const others = `${fieldsSelector()},button,[tabindex]`
    if (sibling.matches(others) || sibling.querySelector(others)) return ""
    const words = tidy(textOf(sibling, { left: 300 }), most)
    if (words !== "") return words
  }
  return ""
}

/** Names that the makers of the page have given to the element or to the icon in it. */
function signsOf(element: PageElement): string {
  const icon = element.querySelector("svg,i,img,use,[class*=icon]")
  const parts = icon ? [element, icon] : [element]
  const signs: string[] = []
  for (const part of parts) {
    for (const name of ["data-action", "data-icon", "data-command", "data-tooltip", "data-testid", "name", "icon"])
      signs.push(part.getAttribute(name) ?? "")
    const link = part.localName === "use" ? part : part.querySelector("use")
    signs.push((link?.getAttribute("href") ?? link?.getAttribute("xlink:href") ?? "").split("#")[1] ?? "")
    signs.push(fileName(part.getAttribute("src") ?? ""), fileName(getComputedStyle(part).backgroundImage))
  }
  for (const part of parts) signs.push(...(part.getAttribute("class") ?? "").split(/\s+/).slice(0, 4).map(unhashed))
  const told = [...new Set(signs.map((sign) => tidy(sign, 40)))].filter((sign) => sign.length > 2)
  // One that only begins another says nothing more.
  const own = told.filter((sign) => !told.some((other) => other !== sign && other.startsWith(sign)))
  return tidy(own.slice(0, 3).join(" "), 60)
}

/** `trash` of `/icons/trash.svg?v=2`, also where a style sheet wraps it in `url("...")`. */
function fileName(address: string): string {
  const longest = 2_000
  if (address.length > longest || address.includes("data:") || address.includes("gradient(")) return ""
  const path = address.split(/[?#"]/).find((part) => part.includes(".")) ?? ""
  return path.slice(path.lastIndexOf("/") + 1).split(".")[0] ?? ""
}

/** A class without the parts that tools have put in: `_close_1a2b3` says "close", `css-1x2y3z` nothing. */
function unhashed(name: string): string {
  const parts = name.split(/[-_]+/).filter((part) => part !== "" && !(part.length > 3 && /\d/.test(part)))
  if (parts.length === 0 || /^(css|sc|jss|jsx|svelte|m)$/.test(parts.join("-"))) return ""
  return /\d/.test(name) ? parts.join("-") : name
}

export const hintsFunctions = [hintOf, asHint, wordsBeside, fieldsSelector, wordsOnSide, signsOf, fileName, unhashed]

declare const getComputedStyle: (element: PageElement) => PageStyle
