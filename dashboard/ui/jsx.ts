// What the build puts into every file for its elements: shorter in the bundle than the automatic form. A class alone comes
// as a word (scripts/build-dashboard.mjs).
import { type ComponentType, createElement } from "preact"

export { Fragment } from "preact"

/** `undefined`, by a name that can be shortened. */
export let $undefined: undefined

export const h = (type: ComponentType, props: object | string | 0, ...children: never[]) =>
  createElement(type, typeof props === "string" ? { class: props } : props || null, ...children)
