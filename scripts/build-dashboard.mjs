// Builds the page: dashboard/ -> one folder of files with hashed names, each in its compressed forms too, and index.html.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { parse } from "acorn"
import { full } from "acorn-walk"
import { build, transform } from "esbuild"

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
      return { contents: source.replace(/--[a-z][a-z-]+/g, short), loader: "css" }
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
  "accepts act aside both follow grows isAtEnd isBusy isLoading known light sure tail topics touchedBy what".split(" ")

const shortNames = new RegExp(`^(?:__\\w|${ownNames.join("|")})$`)

/** What stands in the page a hundred times and more, in fewer letters; dashboard/ui/jsx.ts has the other half. */
const shortForms = {
  name: "short-forms",
  setup({ onLoad }) {
    onLoad({ filter: /dashboard[\\/].*\.tsx?$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, "utf8"), {
        loader: path.endsWith("x") ? "tsx" : "ts",
        ...elements,
      })
      return { contents: /dashboard[\\/]ui[\\/]jsx\.ts$/.test(path) ? code : shorten(code), loader: "js" }
    })
  },
}

/** Of tags that have a function of their own in dashboard/ui/jsx.ts. */
const tags = new Set(
  Array.from(
    readFileSync(join(root, "dashboard/ui/jsx.ts"), "utf8").matchAll(/\$(\w+) = element\(/g),
    ([, tag]) => tag,
  ),
)

/** Exported for its test. */
export function shorten(code) {
  const edits = []
  const put = ({ start, end }, text) => edits.push({ start, end, text })
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
      if (tags.has(tag)) put({ start: node.start, end: properties.start }, `$${tag}(`)
      // Without properties a zero; a class alone is a word.
      const [only, more] = properties?.properties ?? []
      if (properties?.value === null) put(properties, "0")
      else if (tag && only?.key?.name === "class" && !more && typeof only.value.value === "string")
        put(properties, code.slice(only.value.start, only.value.end))
    }
    // dashboard/api.ts knows that all calls are below /api/.
    if (node.callee.name === "call" && first) {
      const start = (first.quasis?.[0] ?? first).start + (first.type === "Literal" ? 1 : 0)
      const [prefix, method] = /^(GET|POST) \/api\//.exec(code.slice(start, start + 12)) ?? []
      if (prefix) put({ start, end: start + prefix.length }, `${method} `)
    }
  })
  return withArrows(edit(code, edits))
}

function edit(code, edits) {
  let short = code
  for (const { start, end, text } of edits.sort((a, b) => b.start - a.start))
    short = short.slice(0, start) + text + short.slice(end)
  return short
}

/** A module's functions as arrows, which are shorter; in front of all else, where they are known as early as before. */
function withArrows(code) {
  const edits = []
  let moved = ""
  for (const statement of parse(code, { ecmaVersion: "latest", sourceType: "module" }).body) {
    const isExported = statement.type === "ExportNamedDeclaration"
    const node = isExported ? statement.declaration : statement
    if (node?.type !== "FunctionDeclaration" || node.generator) continue
    const { id, params, body, async: isAsync } = node
    const text = (from, to) => code.slice(from, to)
    const [only, more] = body.body
    const isValue = only?.type === "ReturnStatement" && only.argument && !more
    const result = isValue ? `(${text(only.argument.start, only.argument.end)})` : text(body.start, body.end)
    const given = params.map(({ start, end }) => text(start, end)).join(", ")
    moved += `${isExported ? "export " : ""}const ${id.name} = ${isAsync ? "async " : ""}(${given}) => ${result};\n`
    edits.push({ start: statement.start, end: statement.end, text: "" })
  }
  return moved + edit(code, edits)
}

/**
 * Of Preact, what draws functions into an empty place. Out of it come classes with their steps and context, documents that
 * a server has drawn, markup given as text, portals, and formulas: the page has none of
 * these. Each cut must be found exactly once, so that another release of Preact ends the build instead.
 */
const cuts = [
  ["128&u.__u&&(c=32&u.__u,s=u.__c.__z)&&(r.__u|=c,p=o=[],8==s.nodeType?l=B(s,o):o.push(s),l=o[0]||l),", ""],
  ["C=(s=V.prototype)&&s.render,j=(s=V.contextType)&&i[s.__c],L=s?j?j.props.value:s.__:i,", "L=i,"],
  [
    "(C?r.__c=d=new V(M,L):(r.__c=d=new x(M,L),d.constructor=V,d.render=K),j&&j.sub(d),",
    "(r.__c=d=new x(M,L),d.constructor=V,d.render=K,",
  ],
  [
    "C&&(d.__s||(d.__s=d.state),V.getDerivedStateFromProps&&(d.__s==d.state&&(d.__s=_({},d.__s)),_(d.__s,V.getDerivedStateFromProps(M,d.__s)))),",
    "",
  ],
  [
    "if(M!==k&&C&&!V.getDerivedStateFromProps&&d.componentWillReceiveProps&&d.componentWillReceiveProps(M,L),r.__v==u.__v",
    "if(r.__v==u.__v",
  ],
  [
    "d.componentWillUpdate&&d.componentWillUpdate(M,d.__s,L),C&&d.componentDidUpdate&&d.__h.push(function(){d.componentDidUpdate(k,b,m)})}else C&&!V.getDerivedStateFromProps&&d.componentWillMount&&d.componentWillMount(),C&&d.componentDidMount&&d.__h.push(d.componentDidMount);",
    "}",
  ],
  ["q=C?25:0;", "q=0;"],
  [
    "C&&(y.push.apply(d.__h,d.__k),d.__k=[]),d.state=d.__s,d.getChildContext&&(i=_({},i,d.getChildContext())),C&&u.__c&&d.getSnapshotBeforeUpdate&&(m=d.getSnapshotBeforeUpdate(k,b)),",
    "d.state=d.__s,",
  ],
  [
    "M.__P&&(s=l,f=(t=M.__P).namespaceURI,c=o=null,u.props&&u.props.__P!=t&&(u.__k.some(function(n){n&&J(n,n)}),u.__k=null),l=u.__k?S(u,0):null),",
    "",
  ],
  ["M.__P&&(r.__e=null,l=s),r.__u&=-161,p&&p.some(g),", "r.__u&=-161,"],
  [
    'if(e.length=v,r.__v=null,c||o)if(t&&t.then){if(r.__u|=128|c,o){for(~(T=o.indexOf(l||void 0))||(T=o.length);(N=o[T-1])&&8==N.nodeType;)T--;for(;T<o.length;T++)if(N=o[T])if(o[T]=null,O){if(N==P)break}else{if(8!=N.nodeType)break;N.data.startsWith("$s")&&(P=B(O=N))}}if(!O){for(;l&&8==l.nodeType&&l.nextSibling;)l=l.nextSibling;O=l}(s=B(O=r.__c.__z||(r.__c.__z=O)))?(r.__e=O,l=s):r.__e=l,l=l&&l.nextSibling}else o&&o.some(g);else r.__e=u.__e;r.__k||(r.__k=u.__k||[]),t&&t.then||D(r),',
    "e.length=v,r.__v=null,r.__e=u.__e,r.__k||(r.__k=u.__k||[]),D(r),",
  ],
  [
    'if("svg"==C?f="http://www.w3.org/2000/svg":"math"==C?f="http://www.w3.org/1998/Math/MathML":f||(f="http://www.w3.org/1999/xhtml"),o)for(s=0;s<o.length;s++)if((k=o[s])&&(C?k.localName==C:3==k.nodeType)){t=k,o[s]=null;break}',
    '"svg"==C?f="http://www.w3.org/2000/svg":f||(f="http://www.w3.org/1999/xhtml");',
  ],
  ["t=M.createElementNS(f,C,x.is?x:a),l&&(n.__m&&n.__m(r,o),l=!1),o=null}", "t=M.createElementNS(f,C,x.is?x:a)}"],
  [
    'if(a="template"==C&&t.content||t,o="textarea"==C&&null!=x.defaultValue?null:o&&d.call(a.childNodes),!l&&o)for($={},s=0;s<t.attributes.length;s++)$[(k=t.attributes[s]).name]=k.value;',
    "a=t;",
  ],
  [
    '"dangerouslySetInnerHTML"==s?y=k:"children"==s||s in x||"value"==s&&"defaultValue"in x||"checked"==s&&"defaultChecked"in x||N',
    '"children"==s||s in x||N',
  ],
  ['"dangerouslySetInnerHTML"==s?h=k:', ""],
  [
    'h?(l||y&&(h.__html==y.__html||h.__html==t.innerHTML)||(t.innerHTML=h.__html),r.__k=[]):(y&&(t.textContent=""),("foreignObject"==C||"http://www.w3.org/1998/Math/MathML"==f&&v.test(C))&&(f="http://www.w3.org/1999/xhtml"),',
    "(",
  ],
  [',o&&o.some(g)),l&&"textarea"!=C||(', "),("],
  ["!u&&(i=t.__c)&&(i=i.__z)&&(f=B(i,o=[]))&&(i==t.__e&&o.some(g),g(f),g(i)),", ""],
  [
    "if((i=t.__c)&&!(1&i.__g)){i.__g|=4;try{if((e=(o=i.constructor)&&o.getDerivedStateFromError)&&i.setState(o.getDerivedStateFromError(n)),i.componentDidCatch&&(i.componentDidCatch(n,u||{}),e=1),e&&8&i.__g)return void(i.__g|=2)}catch(t){n=t}}throw",
    ";throw",
  ],
]

const functionsAlone = {
  name: "functions-alone",
  setup({ onLoad }) {
    onLoad({ filter: /preact[\\/]dist[\\/]preact\.mjs$/ }, ({ path }) => {
      let contents = readFileSync(path, "utf8")
      for (const [from, to] of cuts) {
        if (contents.split(from).length !== 2) throw new Error(`Preact has not, or not once: ${from.slice(0, 60)}`)
        contents = contents.replace(from, () => to)
      }
      return { contents, loader: "js" }
    })
  },
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
  const made = [
    ...(await bundle(
      output,
      { page: "dashboard/main.tsx", style: "dashboard/style.css" },
      { plugins: [shortProperties, shortForms, functionsAlone], inject: ["dashboard/ui/jsx.ts"] },
    )),
    ...(await bundle(output, {
      takeover: "dashboard/takeover/main.ts",
      "takeover-style": "dashboard/takeover/style.css",
    })),
  ]
  const find = (entry) => made.find(({ entryPoint }) => entryPoint === entry)
  const main = find("dashboard/main.tsx")
  // What the first view needs is asked for at once, not one after the other.
  const early = [...new Set(main.needs)]
  writeFileSync(join(output, "icon.svg"), icon)
  writeFileSync(
    join(output, "index.html"),
    document_({ main: main.name, style: find("dashboard/style.css").name, early }),
  )
  const takeover = { main: find("dashboard/takeover/main.ts").name, style: find("dashboard/takeover/style.css").name }
  writeFileSync(join(output, "takeover.html"), takeoverDocument(takeover))
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

function pack(path) {
  const content = readFileSync(path)
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }))
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }))
}
