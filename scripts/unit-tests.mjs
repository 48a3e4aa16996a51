// Which unit tests there are, and which of them have something to say: one that has passed with the very files it is
// made of (itself and all that it imports, to the end) would pass again.
import { createHash } from "node:crypto"
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"

/** Unit tests start nothing: no program, browser, gateway, emulator or model server. `npm test` runs the others too. */
const starts =
  /child_process|test-bench|model-server|startEmulator|tdl|support\/(gateway|world|browser-service|pages-server|google)|fixture\.ts"/
const imported = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g

/** Paths relative to the root. */
export function unitTestsOf(root) {
  return globSync(["src/**/*.test.ts", "cli/**/*.test.ts", "emulator/**/*.test.ts"], { cwd: root })
    .filter((path) => !path.startsWith("src/browser/") && !path.includes("node_modules"))
    .filter((path) => !starts.test(readFileSync(join(root, path), "utf8")))
    .toSorted()
}

/** By test the hash of what it is made of, Node and the installed packages included. */
export function hashesOf(root, tests) {
  const sources = new Map()
  const read = (path) => {
    if (!sources.has(path)) sources.set(path, readSource(root, path))
    return sources.get(path)
  }
  const common = process.version + readFileSync(join(root, "package-lock.json"), "utf8")
  return new Map(
    tests.map((test) => {
      const hash = createHash("sha256").update(common)
      for (const path of [...reachedFrom(test, read)].toSorted()) hash.update(path).update(read(path).digest)
      return [test, hash.digest("hex")]
    }),
  )
}

function readSource(root, path) {
  let text
  try {
    text = readFileSync(join(root, path), "utf8")
  } catch (error) {
    // A test may hold the text of a program that imports what is not here.
    if (error.code === "ENOENT" || error.code === "EISDIR") return { digest: "none", imports: [] }
    throw error
  }
  const imports = [...text.matchAll(imported)].map(([, to]) => normalize(join(dirname(path), to)))
  return { digest: createHash("sha256").update(text).digest("hex"), imports }
}

function reachedFrom(start, read) {
  const reached = new Set([start])
  for (const path of reached) for (const next of read(path).imports) reached.add(next)
  return reached
}

/** What passed, and as what. A file that cannot be read counts as empty: then everything runs. */
export class Passed {
  #path
  #hashes

  constructor(root) {
    this.#path = join(root, "node_modules", ".cache", "unit-tests.json")
    try {
      this.#hashes = JSON.parse(readFileSync(this.#path, "utf8"))
    } catch {
      this.#hashes = {}
    }
  }

  has(test, hash) {
    return this.#hashes[test] === hash
  }

  keep(hashes) {
    mkdirSync(dirname(this.#path), { recursive: true })
    writeFileSync(this.#path, JSON.stringify({ ...this.#hashes, ...Object.fromEntries(hashes) }))
  }
}
