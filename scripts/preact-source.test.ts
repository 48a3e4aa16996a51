// What is left out of Preact is there, and is nothing that the page asks for.
import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { unused, withoutUnused } from "./preact-source.mjs"

const root = join(import.meta.dirname, "..")
const codesBelow = (folder: string, ending: RegExp) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => ending.test(name) && !name.includes(".test."))
    .map((name) => readFileSync(join(root, folder, name), "utf8"))
const ours = codesBelow("dashboard", /\.tsx?$/)
const preact = codesBelow("node_modules/preact/src", /\.js$/).join("\n")

test("all that is left out is in this version of Preact", () => {
  const names = Object.values(unused).flat()
  assert.ok(names.length > 30)
  assert.deepEqual(
    names.filter((name) => !new RegExp(`\\b${name}\\b`).test(preact)),
    [],
  )
})

test("the page has none of it: no steps of components, elements or attributes of these names", () => {
  const { properties, methods, words } = unused
  const own = (names: readonly string[]) => names.filter((name) => name !== "template" && name !== "math")
  const pattern = new RegExp(`\\b(?:${own([...properties, ...methods, ...words]).join("|")})\\b|<(?:template|math)\\b`)
  assert.ok(ours.length > 40 && pattern.test("componentDidCatch() {}") && pattern.test("<math>"))
  assert.deepEqual(
    ours.flatMap((code) => pattern.exec(code)?.[0] ?? []),
    [],
  )
})

test("the page takes of Preact what makes and draws elements, and its class of components", () => {
  const taken = ours.flatMap((code) =>
    Array.from(code.matchAll(/^(?:import|export) \{([^}]*)\} from "preact[/\w]*"$/gm), ([, names]) =>
      (names as string).split(",").map((name) => name.trim()),
    ).flat(),
  )
  assert.deepEqual([...new Set(taken.filter((name) => !name.startsWith("type ")))].sort(), [
    "Component",
    "Fragment",
    "createElement",
    "render",
  ])
})

test("what is never there is written as what it is then, where it is read", () => {
  assert.equal(withoutUnused("if (isHydrating || a) { isHydrating = b(); c() }"), "if (null || a) { ; c() }")
  assert.equal(
    withoutUnused("function a(isHydrating) { return { isHydrating: 1 } }"),
    "function a(isHydrating) { return { isHydrating: 1 } }",
  )
  assert.equal(
    withoutUnused("if ((a = options.vnode)) a(b); a = options.vnode"),
    "if ((undefined)) a(b); a = undefined",
  )
  assert.equal(withoutUnused("options._catchError(e); a = b.contextType"), "options._catchError(e); a = undefined")
  assert.equal(withoutUnused("a._parentDom = b; if (props._parentDom) c()"), "a._parentDom = b; if (undefined) c()")
  assert.equal(withoutUnused("(a._flags & MODE_SUSPENDED) + (b & INSERT_VNODE)"), "(0) + (b & INSERT_VNODE)")
  assert.equal(withoutUnused(`i == "template" || "defaultValue" in a || i == "p"`), `false || false || i == "p"`)
  assert.equal(withoutUnused("A.prototype.setState = function () { b(isHydrating) }; c()"), "; c()")
})
