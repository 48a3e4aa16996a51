// Preact as the page has it: from its source, so that its names inside are shortened as ours are, and without what nothing
// here asks of it, which a minifier cannot know: it goes through the same functions as all else.
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parse } from "acorn"
import { full } from "acorn-walk"

/** By its names in Preact's source. The test of the page's build says of each that it is there, and in nothing of ours. */
export const unused = {
  /** Of documents that a server has drawn, components that wait, contexts, states, who takes errors, and options. */
  values: [
    "isHydrating",
    "excessDomChildren",
    "resumed",
    "globalContext",
    "componentContext",
    "provider",
    "ctor",
    "handled",
    "callback",
    "oldState",
    "snapshot",
    "prevDebounce",
    "renderHook",
  ],
  flags: [
    "MODE_HYDRATE",
    "MODE_SUSPENDED",
    "REF_DETACHED",
    "COMPONENT_PENDING_ERROR",
    "COMPONENT_PROCESSING_EXCEPTION",
  ],
  /** What components of Preact's may be and do besides. */
  properties: [
    "_excess",
    "contextType",
    "getChildContext",
    "getDerivedStateFromProps",
    "getDerivedStateFromError",
    "getSnapshotBeforeUpdate",
    "componentWillMount",
    "componentWillReceiveProps",
    "componentWillUpdate",
    "componentDidMount",
    "componentDidUpdate",
    "componentDidCatch",
    "shouldComponentUpdate",
  ],
  methods: ["setState"],
  /** HTML as text, elements of other worlds, values to begin with. */
  words: ["dangerouslySetInnerHTML", "template", "foreignObject", "math", "defaultValue", "defaultChecked"],
}

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), "node_modules/preact/src")

/** A plugin of esbuild. */
export const preactSource = {
  name: "preact-source",
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^preact$/ }, () => ({ path: join(folder, "index.js"), sideEffects: false }))
    onLoad({ filter: /[\\/]preact[\\/]src[\\/].*\.js$/ }, ({ path }) => ({
      contents: withoutUnused(readFileSync(path, "utf8")),
    }))
  },
}

/** With values in the place of what is never another: the minifier goes on from there. */
export function withoutUnused(code) {
  /** Values by the nodes in whose place they stand. */
  const known = new Map()
  /** What is done for itself, and what something is put into. */
  const kept = new Set()
  full(parse(code, { ecmaVersion: "latest", sourceType: "module" }), (node, _, role) => {
    if (node.type === "ExpressionStatement") kept.add(node.expression)
    if (node.type === "AssignmentExpression") {
      kept.add(node.left)
      if (known.get(node.right) === "undefined") known.set(node, "undefined")
    }
    if (node.type === "VariableDeclarator" && node.init && unused.values.includes(node.id.name))
      known.set(node.init, "null")
    const { name, property } = (node.type === "ExpressionStatement" && node.expression.left) || {}
    if (unused.methods.includes(property?.name) || unused.values.includes(name)) known.set(node, ";")
    const value = valueOf(node, role)
    if (value !== undefined) known.set(node, value)
  })
  const nodes = [...known.keys()].filter((node) => !kept.has(node)).sort((a, b) => b.start - a.start || b.end - a.end)
  const outer = nodes.filter(
    ({ start, end }) =>
      !nodes.some((one) => (one.start < start && end <= one.end) || (one.start <= start && end < one.end)),
  )
  return outer.reduce((text, node) => text.slice(0, node.start) + known.get(node) + text.slice(node.end), code)
}

function valueOf({ type, name, operator, left, right, object, property, computed }, role) {
  // In a place where it is read: it is a parameter, too.
  if (role === "Identifier" && unused.values.includes(name)) return "null"
  if (type === "MemberExpression" && !computed) {
    const isOption = object.name === "options" && property.name !== "_catchError"
    // Components have what it is drawn into by the same name, and properties the root of another one.
    const isRoot = property.name === "_parentDom" && (object.property?.name ?? object.name).endsWith("rops")
    if (isOption || isRoot || unused.properties.includes(property.name)) return "undefined"
  }
  if (type !== "BinaryExpression") return undefined
  if (operator === "&" && unused.flags.includes(right.name)) return "0"
  if (operator === "==" && (unused.words.includes(right.value) || right.name === "MATH_NAMESPACE")) return "false"
  // Comments, and whole documents.
  if (operator === "==" && (right.value === 8 || right.value === 9)) return "false"
  if (operator === "in" && unused.words.includes(left.value)) return "false"
  return undefined
}
