// What is said to look at exists: links between documents with their headings, and documents that the program names.
import assert from "node:assert/strict"
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { test } from "node:test"

const root = join(import.meta.dirname, "../..")
const read = (path: string) => readFileSync(join(root, path), "utf8")
const documents = globSync(["*.md", "docs/**/*.md", "packaging/**/*.md"], { cwd: root })
const sources = globSync(["{src,cli,emulator,dashboard,extension,scripts}/**/*.{ts,tsx,mjs}", "packaging/**/*"], {
  cwd: root,
  withFileTypes: true,
})
  .filter((entry) => entry.isFile() && !entry.parentPath.includes("node_modules") && !entry.name.includes(".test."))
  .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))

/** As the usual renderers make them: lower case, without punctuation, spaces as hyphens. */
function anchorsOf(document: string): Set<string> {
  const heads = [...read(document).matchAll(/^#+ (.*)$/gm)].map(([, head]) => head as string)
  return new Set(
    heads.map((head) =>
      head
        .toLowerCase()
        .replace(/[^\w\- ]/g, "")
        .trim()
        .replaceAll(" ", "-"),
    ),
  )
}

test("links between documents lead to files and headings that exist", () => {
  assert.ok(documents.length > 50)
  const dead: string[] = []
  for (const document of documents) {
    for (const [, link] of read(document).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)) {
      const [path, anchor] = (link as string).split("#") as [string, string?]
      if (/^[a-z]+:/.test(path)) continue
      const target = path === "" ? document : normalize(join(dirname(document), path))
      const isThere =
        existsSync(join(root, target)) && (!anchor || !target.endsWith(".md") || anchorsOf(target).has(anchor))
      if (!isThere) dead.push(`${document}: ${link}`)
    }
  }
  assert.deepEqual(dead, [])
})

test("documents that the program names exist", () => {
  assert.ok(sources.length > 500)
  const missing = sources.flatMap((source) =>
    [...read(source).matchAll(/docs\/(?:guides|reference|decisions)\/[\w/-]+\.md/g)]
      .filter(([path]) => !existsSync(join(root, path)))
      .map(([path]) => `${source}: ${path}`),
  )
  assert.deepEqual(missing, [])
})
