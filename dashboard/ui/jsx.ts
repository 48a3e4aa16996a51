// What the build puts into every file for its elements (scripts/build-dashboard.mjs): shorter in the bundle than the
// automatic form. A class alone comes as a word, no properties as a zero, and tags that are used often are functions, as are
// components (`calledComponents` there).
import { createElement } from "preact"
import { type Drawing, component } from "./hooks.ts"

export { Fragment } from "preact"

/** `undefined`, by a name that can be shortened. */
export let $undefined: undefined

export const $label = "aria-label"
export const $stringify = JSON.stringify
export const $parse = JSON.parse
export const $entries = Object.entries
export const $all = Promise.all.bind(Promise)
export const $clear = clearTimeout
export const $later = setTimeout
export const $encode = encodeURIComponent

type Properties = object | string | 0

export const h = (type: Drawing | string, properties: Properties, ...children: never[]) =>
  createElement(
    typeof type === "string" ? (type as "div") : component(type),
    typeof properties === "string" ? { class: properties } : properties || null,
    ...children,
  )

/** What makes elements of a tag or of a component. */
export const $element =
  (type: Drawing | string) =>
  (properties: Properties, ...children: never[]) =>
    h(type, properties, ...children)

export const $a = $element("a")
export const $button = $element("button")
export const $code = $element("code")
export const $div = $element("div")
export const $h2 = $element("h2")
export const $header = $element("header")
export const $li = $element("li")
export const $p = $element("p")
export const $section = $element("section")
export const $small = $element("small")
export const $span = $element("span")
export const $strong = $element("strong")
export const $ul = $element("ul")
