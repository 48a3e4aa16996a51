// Roles of elements, from their attribute or their tag. Runs in the page (see agent.ts).
import { internalsOf } from "./agent.ts"
import type { PageElement } from "./dom.ts"

/** What is known of an element by its tag alone, looked up once for each tag of a walk. */
export interface TagFacts {
  skipped: boolean
  inline: boolean
  custom: boolean
  /** Plain text and boxes: may have a closed shadow root that nothing tells of. */
  mayHide: boolean
  /** Its role, where no attribute and no place in the page changes it. */
  role: string | undefined
  /** A name may come from what only such an element has: a label, a caption, an alternative text. */
  named: boolean
  /** May be switched off by what it stands in. */
  disables: boolean
  /** A native field or button, which is worked whatever role the page has given it. */
  worked: boolean
  /** The browser draws it: what is inside is not shown. */
  replaced: boolean
}

export interface RoleTables {
  tags: Map<string, TagFacts>
  byTag: Record<string, string>
  interactive: Set<string>
  namedByContent: Set<string>
  /** Roles whose elements get a ref in role snapshots when they have a name, though they take no input. */
  content: Set<string>
  inlineTags: Set<string>
  skippedTags: Set<string>
  /** Whether style sheets of the document put words before or behind elements; undefined before that was asked. */
  generates: boolean | undefined
}

export function roleTables(): RoleTables {
  const byTag: Record<string, string> = {
    article: "article",
    aside: "complementary",
    blockquote: "blockquote",
    button: "button",
    code: "code",
    dd: "definition",
    details: "group",
    dialog: "dialog",
    dt: "term",
    fieldset: "group",
    figure: "figure",
    footer: "contentinfo",
    h1: "heading",
    h2: "heading",
    h3: "heading",
    h4: "heading",
    h5: "heading",
    h6: "heading",
    header: "banner",
    hr: "separator",
    li: "listitem",
    main: "main",
    menu: "list",
    meter: "meter",
    nav: "navigation",
    ol: "list",
    option: "option",
    output: "status",
    p: "paragraph",
    pre: "code",
    progress: "progressbar",
    search: "search",
    summary: "button",
    table: "table",
    tbody: "rowgroup",
    td: "cell",
    textarea: "textbox",
    tfoot: "rowgroup",
    th: "columnheader",
    thead: "rowgroup",
    tr: "row",
    ul: "list",
  }
  const words = (text: string) => new Set(text.split(" "))
  return {
    tags: new Map(),
    byTag,
    interactive: words(
      "button link textbox checkbox radio combobox listbox menuitem menuitemcheckbox menuitemradio option searchbox slider spinbutton switch tab treeitem",
    ),
    namedByContent: words(
      "button link heading option tab menuitem menuitemcheckbox menuitemradio checkbox radio switch treeitem cell gridcell columnheader rowheader tooltip term",
    ),
    content: words("heading cell gridcell columnheader rowheader listitem article region main navigation img"),
    inlineTags: words(
      "a abbr b bdi bdo br cite code data del dfn em font i ins kbd label mark q s samp slot small span strong sub sup time u var",
    ),
    skippedTags: words("base head link meta noscript param script source style svc-labels template title track"),
    generates: undefined,
  }
}

export function factsOf(tables: RoleTables, tag: string): TagFacts {
  const known = tables.tags.get(tag)
  if (known) return known
  const custom = tag.includes("-")
  const own = Object.hasOwn(tables.byTag, tag) && tag !== "header" && tag !== "footer" ? tables.byTag[tag] : undefined
  const isPlain = /^(div|span|b|i|em|strong|small|label|dl|figcaption|center|tt|g|path|use|picture|slot)$/.test(tag)
  const facts = {
    skipped: tables.skippedTags.has(tag),
    inline: tables.inlineTags.has(tag),
    custom,
    mayHide: /^(div|span|section|main|article|aside|p|h[1-6]|header|footer|nav|blockquote)$/.test(tag),
    role: own ?? (isPlain ? "" : undefined),
    named:
      custom ||
      /^(button|meter|output|progress|select|textarea|input|img|area|svg|option|fieldset|table|figure)$/.test(tag),
    disables: custom || /^(button|input|select|textarea|option|optgroup|fieldset)$/.test(tag),
    worked: /^(button|input|select|textarea)$/.test(tag),
    replaced: isReplaced(tag),
  }
  tables.tags.set(tag, facts)
  return facts
}

/** Drawn by the browser itself: the words inside are for browsers that cannot, and nobody sees them. */
export function isReplaced(tag: string): boolean {
  return /^(progress|meter|video|audio|canvas|iframe)$/.test(tag)
}

/** Whether the element's role is one of these. */
export function hasRole(tables: RoleTables, element: PageElement, roles: ReadonlySet<string>): boolean {
  const role = roleOf(tables, element)
  return role !== "" && roles.has(role)
}

/** Native fields are worked whatever role the page has given them. */
export function takesInput(tables: RoleTables, element: PageElement, role: string): boolean {
  return tables.interactive.has(role) || factsOf(tables, element.localName).worked
}

/** "" for elements that mean nothing of their own (div, span); their content counts as their parent's. */
export function roleOf(tables: RoleTables, element: PageElement): string {
  const tag = element.localName
  if (!element.hasAttributes()) {
    const { role } = factsOf(tables, tag)
    if (role !== undefined) return role
  }
  const explicit = element.getAttribute("role")
  if (explicit) {
    const role = explicit.trim().split(/\s+/)[0]?.toLowerCase() ?? ""
    const isPlain = role === "presentation" || role === "none" || role === "generic"
    // What takes the focus means something, whatever the page says; and what takes text is a field.
    const isField = /^(input|select|textarea)$/.test(element.localName)
    const isNative = isPlain ? isField || element.localName === "button" : isField && !tables.interactive.has(role)
    if (!isNative) return isPlain ? "" : role
  }
  const internals = internalsOf(element)
  if (internals) return internals.role
  if (tag === "input") return inputRole(element)
  if (tag === "a" || tag === "area") return element.hasAttribute("href") ? "link" : ""
  if (tag === "select")
    return element.multiple || Number(element.getAttribute("size") ?? 1) > 1 ? "listbox" : "combobox"
  if (tag === "img" || tag === "svg") return element.getAttribute("alt") === "" ? "" : "img"
  if (tag === "iframe" || tag === "frame") return "iframe"
  if (tag === "section")
    return element.hasAttribute("aria-label") || element.hasAttribute("aria-labelledby") ? "region" : ""
  if (tag === "form") return element.hasAttribute("aria-label") || element.hasAttribute("aria-labelledby") ? "form" : ""
  if (tag === "header" || tag === "footer") {
    return element.closest("article,aside,main,nav,section") ? "" : (tables.byTag[tag] ?? "")
  }
  if (element.isContentEditable && !element.parentElement?.isContentEditable) return "textbox"
  return Object.hasOwn(tables.byTag, tag) ? (tables.byTag[tag] ?? "") : ""
}

function inputRole(element: PageElement): string {
  switch (element.type) {
    case "hidden":
      return ""
    case "button":
    case "submit":
    case "reset":
    case "image":
    case "file":
    case "color":
      return "button"
    case "checkbox":
    case "radio":
      return element.type
    case "range":
      return "slider"
    case "number":
      return "spinbutton"
    case "search":
      return element.hasAttribute("list") ? "combobox" : "searchbox"
    default:
      return element.hasAttribute("list") ? "combobox" : "textbox"
  }
}

/** States in brackets, each with a space before it: ` [checked] [disabled]`. */
export function statesOf(tables: RoleTables, element: PageElement, role: string): string {
  let states = ""
  const { disables } = factsOf(tables, element.localName)
  const isBare = !element.hasAttributes()
  if (isBare && !disables && role !== "heading" && element.localName !== "summary") return sizeOfList(element, role)
  const flag = (name: string, on: boolean) => {
    if (on) states += ` [${name}]`
  }
  const aria = (name: string) => (isBare ? null : element.getAttribute(`aria-${name}`))
  if (role === "heading") states += ` [level=${Number(aria("level") ?? element.localName.slice(1)) || 2}]`
  if (element.localName === "input" && (element.type === "checkbox" || element.type === "radio")) {
    if (element.indeterminate) states += " [checked=mixed]"
    else flag("checked", element.checked)
  } else if (aria("checked") === "mixed") states += " [checked=mixed]"
  else flag("checked", aria("checked") === "true")
  flag("selected", aria("selected") === "true" || (element.localName === "option" && element.selected))
  flag("disabled", (disables && element.matches(":disabled")) || aria("disabled") === "true")
  flag("pressed", aria("pressed") === "true")
  // The page that one is on, the step that one is at.
  flag("current", /^(?!false$)./.test(aria("current") ?? ""))
  const expanded = element.localName === "summary" ? String(element.parentElement?.open ?? false) : aria("expanded")
  if (expanded === "true") states += " [expanded]"
  else if (expanded === "false") states += " [collapsed]"
  flag("invalid", /^(?!false$)./.test(aria("invalid") ?? ""))
  const sort = aria("sort") ?? ""
  if (/^(ascending|descending)$/.test(sort)) states += ` [sort=${sort}]`
  // A menu of its own opens beside the entry, also by the mouse alone.
  flag("haspopup", role === "menuitem" && expanded === null && /^(true|menu)$/.test(aria("haspopup") ?? ""))
  states += sizeOfList(element, role)
  flag("readonly", element.readOnly === true && (role === "textbox" || role === "searchbox"))
  return states
}

/** How much there is of a list or a table that draws only some of it, where it says so. */
export function sizeOfList(element: PageElement, role: string): string {
  if (/^(grid|treegrid|table)$/.test(role)) {
    const size = (name: string, rows: string) => {
      const count = Number(element.getAttribute(name))
      return count > 0 ? ` [${rows}=${count}]` : ""
    }
    return size("aria-rowcount", "rows") + size("aria-colcount", "columns")
  }
  if (!/^(listbox|list|menu|tree|feed)$/.test(role)) return ""
  let item = element.firstElementChild
  for (let steps = 0; item && steps < 5; steps += 1) {
    const count = Number(item.getAttribute("aria-setsize"))
    if (count > 0) return ` [items=${count}]`
    item = item.firstElementChild ?? item.nextElementSibling
  }
  return ""
}

export const rolesFunctions = [
  roleTables,
  factsOf,
  isReplaced,
  hasRole,
  takesInput,
  roleOf,
  inputRole,
  statesOf,
  sizeOfList,
]
