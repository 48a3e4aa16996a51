// Builds the page: dashboard/ -> one folder of files with hashed names, each in its compressed forms too, and index.html.
import { createHash } from "node:crypto"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { parse } from "acorn"
import { full } from "acorn-walk"
import { build, transform, transformSync } from "esbuild"
import { minify } from "terser"
import { preactSource } from "./preact-source.mjs"
import { shareNames } from "./shared-names.mjs"

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** The mark of the page, and of its tab. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="#1f5fae"/><path d="M16 8.500c-1-1.500-7-2-7 1s7 2 7 5s-6.500 2.500-8 .500" fill="none" stroke="#fff" stroke-width="2.200" stroke-linecap="round"/></svg>`

/** Our own properties of the stylesheet get short names: what they stand for is for whoever reads the source. */
const shortProperties = {
  name: "short-properties",
  setup({ onLoad }) {
    onLoad({ filter: /dashboard[\\/]style\.css$/ }, ({ path }) => {
      const source = readFileSync(path, "utf8")
      const names = [...new Set(source.match(/--[a-z][a-z-]+(?=:)/g))]
      const short = (name) => `--${names.includes(name) ? names.indexOf(name).toString(36) : name.slice(2)}`
      // Of their values esbuild leaves every space.
      const tight = source.replace(/(--[a-z-]+): ([^;]+);/g, (all) => all.replaceAll(/([:,]) /g, "$1"))
      return { contents: tight.replace(/--[a-z][a-z-]+/g, short), loader: "css" }
    })
  },
}

/** As calls of h() a page is a tenth smaller than with the automatic runtime, whose every call spells out its children. */
const elements = { jsx: "transform", jsxFactory: "h", jsxFragment: "Fragment" }

/**
 * Names of properties that are of this page alone, and of Preact within: neither HTML, the browser nor the gateway's
 * answers know them (a test holds them apart), so that they are shortened.
 */
export const ownNames =
  "accepts act aside both current drawing due ends follow forget grows inputs isAtEnd isBusy isLoading kept known light means past sources sure tail topics touchedBy verb what".split(
    " ",
  )

const shortNames = new RegExp(`^(?:_[a-z]\\w*|\\$\\w+|componentWillUnmount|${ownNames.join("|")})$`)

const madeBy = createHash("sha256")
  .update(
    ["build-dashboard", "preact-source", "shared-names"]
      .map((name) => readFileSync(join(root, `scripts/${name}.mjs`)))
      .join(),
  )
  .digest("hex")

const sharedPath = join(root, "dashboard/ui/shared.ts")

const ownCodes = readdirSync(join(root, "dashboard"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".tsx"))
  .map(
    (name) => transformSync(readFileSync(join(root, "dashboard", name), "utf8"), { loader: "tsx", ...elements }).code,
  )
const ownComponents = closedComponents(ownCodes)
const ownCalled = calledComponents(ownCodes)

/**
 * Names of the components whose properties nobody but their callers and their own first lines names, so that those may be
 * called anything: all are taken apart where they come in, and none comes out of another object. Exported for its test.
 */
export function closedComponents(codes) {
  const closed = new Set()
  const open = new Set()
  for (const code of codes) {
    full(parse(code, { ecmaVersion: "latest", sourceType: "module" }), (node) => {
      if (node.type === "FunctionDeclaration" && /^[A-Z]/.test(node.id?.name)) {
        const [given] = node.params
        closed.add(node.id.name)
        if (given && !(given.type === "ObjectPattern" && given.properties.every(({ type }) => type === "Property")))
          open.add(node.id.name)
      }
      if (node.type !== "CallExpression" || node.callee.name !== "h") return
      const [{ type, name }, properties] = node.arguments
      if (type === "Identifier" && properties.properties?.some((each) => each.type !== "Property")) open.add(name)
    })
  }
  return closed.difference(open)
}

/**
 * Names of the components that other files have elements of, often and nothing else of them, so that they may be what makes
 * these elements: `Badge({ state })` for `h(Badge, { state })`. Exported for its test.
 */
export function calledComponents(codes) {
  const exported = new Set()
  const declared = []
  const named = []
  const drawn = []
  for (const code of codes) {
    const tree = parse(code, { ecmaVersion: "latest", sourceType: "module" })
    for (const { type, declaration } of tree.body)
      if (type === "ExportNamedDeclaration" && declaration?.type === "FunctionDeclaration")
        exported.add(declaration.id.name)
    full(tree, (node, _, role) => {
      if (role === "VariablePattern") declared.push(node.name)
      if (role === "Identifier") named.push(node.name)
      if (role === "CallExpression" && node.callee.name === "h") drawn.push(node.arguments[0].name)
    })
  }
  const count = (list, name) => list.filter((each) => each === name).length
  const isCalled = (name) => {
    const times = count(drawn, name)
    return times > 3 && times === count(named, name) && count(declared, name) === 1
  }
  return new Set([...exported].filter(isCalled))
}

/** What Preact itself knows of the properties of a component. */
const itsOwn = new Set(["children", "key", "ref"])

/** What stands in the page a hundred times and more, in fewer letters; dashboard/ui/jsx.ts has the other half. */
const shortForms = {
  name: "short-forms",
  setup({ onLoad }) {
    onLoad({ filter: /dashboard[\\/].*\.tsx?$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, "utf8"), {
        loader: path.endsWith("x") ? "tsx" : "ts",
        ...elements,
      })
      if (/dashboard[\\/]ui[\\/]jsx\.ts$/.test(path)) return { contents: code, loader: "js" }
      // What is reached from every page is one file with what all have in common.
      const shared = /dashboard[\\/]pages[\\/]/.test(path) ? `import ${JSON.stringify(sharedPath)}\n` : ""
      return { contents: shared + arrows(shorten(code)), loader: "js" }
    })
  },
}

/** Of tags that have a function of their own in dashboard/ui/jsx.ts. */
const tags = new Set(
  Array.from(
    readFileSync(join(root, "dashboard/ui/jsx.ts"), "utf8").matchAll(/\$(\w+) = \$element\(/g),
    ([, tag]) => tag,
  ),
)

/** What is said often and cannot be shortened where it stands, by the names that dashboard/ui/jsx.ts has for it. */
const said = {
  "JSON.stringify": "$stringify",
  "JSON.parse": "$parse",
  "Object.entries": "$entries",
  "Promise.all": "$all",
  clearTimeout: "$clear",
  setTimeout: "$later",
  encodeURIComponent: "$encode",
}

/** Exported for its test. */
export function shorten(code, components = ownComponents, called = ownCalled) {
  const edits = []
  const put = ({ start, end }, text) => edits.push({ start, end, text })
  // By a name that esbuild shortens.
  const own = ({ properties = [] }) => {
    for (const { key, shorthand } of properties) {
      if (key.type !== "Identifier" || itsOwn.has(key.name)) continue
      put({ start: key.start, end: key.start }, shorthand ? `$${key.name}: ` : "$")
    }
  }
  full(parse(code, { ecmaVersion: "latest", sourceType: "module" }), (node) => {
    // `undefined`, by a name that can be shortened.
    if (node.type === "UnaryExpression" && node.operator === "void" && node.argument.value === 0)
      put(node, "$undefined")
    // Of a list without anything.
    if (
      node.type === "BinaryExpression" &&
      node.operator === "===" &&
      node.right.value === 0 &&
      node.left.property?.name === "length"
    ) {
      put({ start: node.start, end: node.start }, "!")
      put({ start: node.left.end, end: node.end }, "")
    }
    if (node.type === "Property" && node.key.value === "aria-label") put(node.key, "[$label]")
    if (node.type === "FunctionDeclaration" && components.has(node.id?.name) && node.params[0]) own(node.params[0])
    const name = node.type === "CallExpression" && said[code.slice(node.callee.start, node.callee.end)]
    if (name) put(node.callee, name)
    if (node.type !== "CallExpression" || node.callee.type !== "Identifier") return
    const [first, properties, ...children] = node.arguments
    // What holds elements together and is none itself: a list does it too.
    if (node.callee.name === "h" && first?.name === "Fragment" && properties?.value === null && children.length > 0) {
      put({ start: node.start, end: children[0].start }, "[")
      put({ start: node.end - 1, end: node.end }, "]")
      return
    }
    if (node.callee.name === "h" && first) {
      const tag = first.type === "Literal" ? first.value : undefined
      const maker = tags.has(tag) ? `$${tag}` : called.has(first.name) && first.name
      if (maker) put({ start: node.start, end: properties.start }, `${maker}(`)
      if (components.has(first.name)) own(properties)
      // Without properties a zero; a class alone is a word.
      const [only, more] = properties?.properties ?? []
      if (properties?.value === null) put(properties, "0")
      else if (tag && only?.key?.name === "class" && !more && typeof only.value.value === "string")
        put(properties, code.slice(only.value.start, only.value.end))
    }
    // dashboard/api.ts knows that all calls are below /api/; those that change something have a plus.
    if (node.callee.name === "call" && first) {
      const start = (first.quasis?.[0] ?? first).start + (first.type === "Literal" ? 1 : 0)
      const [prefix, method] = /^(GET|POST) \/api\//.exec(code.slice(start, start + 12)) ?? []
      if (prefix) put({ start, end: start + prefix.length }, method === "POST" ? "+" : "")
    }
  })
  return edit(code, edits)
}

/**
 * A module's functions as arrows, which are a fifth shorter. They come first, since functions are there before all that
 * stands in their module. Exported for its test.
 */
export function arrows(code, called = ownCalled) {
  const first = []
  const rest = []
  for (const node of parse(code, { ecmaVersion: "latest", sourceType: "module" }).body) {
    const made = node.declaration ?? node
    const isOwn = made.type === "FunctionDeclaration" && !made.generator && !hasThis(made)
    if (!isOwn) {
      rest.push(code.slice(node.start, node.end))
      continue
    }
    const { id, params, body } = made
    const given = params.map(({ start, end }) => code.slice(start, end)).join(", ")
    const isDefault = node.type === "ExportDefaultDeclaration"
    const before = node.type === "ExportNamedDeclaration" ? "export " : ""
    const arrow = `${made.async ? "async " : ""}(${given}) => ${code.slice(body.start, body.end)}`
    first.push(`${before}const ${id.name} = ${before && called.has(id.name) ? `$element(${arrow})` : arrow};`)
    if (isDefault) rest.push(`export default ${id.name};`)
  }
  return [...first, ...rest].join("\n")
}

function hasThis(node) {
  let found = false
  full(node, ({ type, name }) => {
    found ||= type === "ThisExpression" || name === "arguments"
  })
  return found
}

function edit(code, edits) {
  let short = code
  for (const { start, end, text } of edits.sort((a, b) => b.start - a.start))
    short = short.slice(0, start) + text + short.slice(end)
  return short
}

async function bundle(output, entryPoints, options = {}) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    outdir: output,
    bundle: true,
    splitting: true,
    format: "esm",
    target: ["chrome123", "firefox128", "safari17.5"],
    // Top-level await is what begins the page; every browser with light-dark() has it.
    supported: { "top-level-await": true },
    tsconfigRaw: {},
    ...elements,
    conditions: ["browser"],
    minify: true,
    mangleProps: shortNames,
    charset: "utf8",
    legalComments: "none",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    define: { "process.env.NODE_ENV": '"production"' },
    // For the hashes alone: of the same sources another way to build them makes other files.
    footer: { js: `//${madeBy}` },
    logLevel: "warning",
    metafile: true,
    ...options,
  })
  return Object.entries(metafile.outputs).map(([path, { entryPoint, imports }]) => ({
    name: basename(path),
    entryPoint,
    needs: imports.filter(({ kind }) => kind === "import-statement").map(({ path: needed }) => basename(needed)),
  }))
}

export async function buildDashboard(output) {
  mkdirSync(output, { recursive: true })
  // Apart, so that neither page's files hold anything of the other's.
  const page = await bundle(
    output,
    { page: "dashboard/main.tsx", style: "dashboard/style.css" },
    {
      plugins: [preactSource, shortProperties, shortForms],
      inject: ["dashboard/ui/jsx.ts"],
      // Names come last, since those that files share are given by none of them alone.
      minify: false,
      minifySyntax: true,
      minifyWhitespace: true,
    },
  )
  const takeover = await bundle(output, {
    takeover: "dashboard/takeover/main.ts",
    "takeover-style": "dashboard/takeover/style.css",
  })
  const find = (entry) => [...page, ...takeover].find(({ entryPoint }) => entryPoint === entry)
  const main = find("dashboard/main.tsx")
  // What the first view needs is asked for at once, not one after the other.
  const early = [...new Set(main.needs)]
  writeFileSync(join(output, "icon.svg"), icon)
  writeFileSync(
    join(output, "index.html"),
    document_({ main: main.name, style: find("dashboard/style.css").name, early }),
  )
  const tab = { main: find("dashboard/takeover/main.ts").name, style: find("dashboard/takeover/style.css").name }
  writeFileSync(join(output, "takeover.html"), takeoverDocument(tab))
  const read = (name) => readFileSync(join(output, name), "utf8")
  const scripts = page.filter(({ name }) => name.endsWith(".js")).map(({ name }) => [name, read(name)])
  const { files, names } = shareNames(new Map(scripts))
  for (const [name, code] of files) writeFileSync(join(output, name), await tighten(code, names))
  writeFileSync(join(output, tab.main), await tighten(read(tab.main)))
  for (const name of readdirSync(output)) pack(join(output, name))
}

function document_({ main, style, early }) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>svc</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="${style}">
${early.map((name) => `<link rel="modulepreload" href="${name}">`).join("\n")}
<script type="module" blocking="render" src="${main}"></script>
</head>
<body>
<div id="page"></div>
<noscript>This page needs JavaScript. The same is told by: svc status, svc runs list, svc logs</noscript>
</body>
</html>
`
}

/** Behind a link to a tab: a page of its own, which knows nothing of the other. */
function takeoverDocument({ main, style }) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Take over</title>
<meta name="viewport" content="width=device-width, initial-scale=1, interactive-widget=resizes-content">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="${style}">
<script type="module" src="${main}"></script>
</head>
<body>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`
}

/**
 * What esbuild leaves: names, values used once, statements that are one expression. No option that changes what code means.
 * Names that are `reserved` stay.
 */
async function tighten(source, reserved = []) {
  const options = {
    module: true,
    ecma: 2022,
    compress: { passes: 3, keep_fargs: false },
    mangle: { reserved },
    format: { comments: false },
  }
  const { code } = await minify(source, options)
  return code
}

function pack(path) {
  const content = readFileSync(path)
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }))
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
}
