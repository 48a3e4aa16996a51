// The part of the DOM that the injected functions use, as types. The compiler's own DOM library is not switched on:
// its globals would be visible in the whole project, where they do not exist.

export interface PageNode {
  readonly nodeType: number
  readonly nodeValue: string | null
  readonly firstChild: PageNode | null
  readonly nextSibling: PageNode | null
  readonly previousSibling: PageNode | null
  readonly parentNode: PageNode | null
  readonly isConnected: boolean
  textContent: string | null
}

export interface Box {
  x: number
  y: number
  width: number
  height: number
}

export interface PageStyle {
  display: string
  visibility: string
  content: string
  cursor: string
  opacity: string
  position: string
  zIndex: string
  pointerEvents: string
  backgroundColor: string
  backgroundImage: string
  fill: string
  stroke: string
  overflowX: string
  clip: string
  clipPath: string
  overflowY: string
  paddingLeft: string
  paddingTop: string
}

export interface PageElement extends PageNode {
  readonly localName: string
  readonly id: string
  readonly shadowRoot: PageRoot | null
  readonly assignedSlot: PageElement | null
  /** Of a part of a drawing. */
  readonly ownerSVGElement?: PageElement | null
  /** Of a shape: points of its line, in the drawing's own measure. */
  getTotalLength?(): number
  getPointAtLength?(length: number): { x: number; y: number }
  getScreenCTM?(): { a: number; b: number; c: number; d: number; e: number; f: number } | null
  readonly ownerDocument: PageDocument
  readonly firstElementChild: PageElement | null
  readonly lastElementChild: PageElement | null
  readonly children: ArrayLike<PageElement>
  readonly childElementCount: number
  readonly nextElementSibling: PageElement | null
  readonly previousElementSibling: PageElement | null
  readonly className: unknown
  readonly style: { cssText: string }
  selectedIndex: number
  readonly parentElement: PageElement | null
  readonly isContentEditable: boolean
  readonly editContext?: object | null
  scrollLeft: number
  scrollTop: number
  readonly scrollWidth: number
  readonly scrollHeight: number
  readonly clientLeft: number
  readonly clientWidth: number
  readonly clientHeight: number
  readonly clientTop: number
  readonly offsetWidth: number
  readonly offsetHeight: number
  readonly labels: ArrayLike<PageElement> | null
  readonly control: PageElement | null
  readonly options: ArrayLike<PageElement> | undefined
  readonly files: ArrayLike<{ name: string }> | null | undefined
  readonly open: boolean
  readonly host: PageElement | undefined
  readonly form: PageElement | null
  /** Of a field: why the browser refuses what is in it. */
  readonly validationMessage?: string
  value: string
  setAttribute(name: string, value: string): void
  type: string
  checked: boolean
  indeterminate: boolean
  selected: boolean
  multiple: boolean
  readOnly: boolean
  text: string
  label: string
  getAttribute(name: string): string | null
  hasAttribute(name: string): boolean
  hasAttributes(): boolean
  getAttributeNames(): string[]
  hasChildNodes(): boolean
  checkVisibility(options?: { visibilityProperty?: boolean }): boolean
  matches(selector: string): boolean
  closest(selector: string): PageElement | null
  querySelector(selector: string): PageElement | null
  querySelectorAll(selector: string): ArrayLike<PageElement>
  getBoundingClientRect(): Box
  getClientRects(): ArrayLike<Box>
  getRootNode(): PageRoot
  scrollIntoView(options: { block: string; inline: string; behavior: string }): void
  scrollIntoViewIfNeeded?(center: boolean): void
  assignedNodes(options: { flatten: boolean }): PageNode[]
  contains(other: PageNode | null): boolean
  focus(options?: { preventScroll: boolean }): void
  select(): void
  dispatchEvent(event: object): boolean
  append(...nodes: PageNode[]): void
  remove(): void
  attachShadow(options: { mode: string }): PageElement
}

export interface PageRoot extends PageNode {
  readonly parentElement: null
  readonly firstElementChild: PageElement | null
  readonly activeElement: PageElement | null
  readonly host?: PageElement
  querySelector(selector: string): PageElement | null
  querySelectorAll(selector: string): ArrayLike<PageElement>
  elementFromPoint(x: number, y: number): PageElement | null
  getElementById(id: string): PageElement | null
  addEventListener(type: string, handler: () => void, capture: boolean): void
  removeEventListener(type: string, handler: () => void, capture: boolean): void
}

export interface PageAnimation {
  playState: string
  effect: { target: PageElement | null } | null
}

export interface PageDocument extends PageRoot {
  getElementsByTagName(name: string): ArrayLike<PageElement>
  readonly title: string
  readonly body: PageElement | null
  readonly documentElement: PageElement
  readonly defaultView: PageWindow
  getAnimations(): PageAnimation[]
  readonly styleSheets: { length: number }
  createElement(name: string): PageElement
  createRange(): {
    selectNodeContents(node: PageNode): void
    collapse(toStart: boolean): void
    getClientRects(): ArrayLike<Box>
  }
}

export interface PageEvent {
  type: string
  isTrusted: boolean
  clientX: number
  clientY: number
  defaultPrevented: boolean
  composedPath(): PageNode[]
  preventDefault(): void
  stopImmediatePropagation(): void
}

export interface PageWindow {
  innerWidth: number
  innerHeight: number
  getComputedStyle(element: PageElement): PageStyle
  requestAnimationFrame(callback: () => void): void
  setTimeout(callback: () => void, ms: number): void
  scrollBy(options: { left: number; top: number; behavior: string }): void
  addEventListener(type: string, handler: (event: PageEvent) => void, capture: boolean): void
  removeEventListener(type: string, handler: (event: PageEvent) => void, capture: boolean): void
  getSelection(): {
    removeAllRanges(): void
    addRange(range: object): void
    collapseToEnd(): void
    setBaseAndExtent(from: PageNode, fromOffset: number, to: PageNode, toOffset: number): void
  } | null
  location: { href: string }
}
