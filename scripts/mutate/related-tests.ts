// Which tests can notice a change of a file: those that import it, the nearest first.
import { globSync, readFileSync } from "node:fs"
import { dirname, join, normalize, sep } from "node:path"

const imported = /(?:from|import)\s*\(?\s*"(\.[^"]+)"/g
/** Those beside the code know it; what everything imports is imported by hundreds. */
const most = 24

export interface RelatedTests {
  /** Of the tests beside sources those that import the file, nearest first. Paths are relative to the root. */
  of(file: string): string[]
  /** Tests of the whole program: what they come to, only their running tells. */
  whole: readonly string[]
  /** What is sent to pages runs where no coverage is: those sources that send it and read its answers, the nearest. */
  sendersOf(file: string): readonly string[]
}

/** These are sent to a page as text and run there, where Node does not look. */
export const inPages = /^src\/browser\/page\/inject\//

export function relateTests(root: string): RelatedTests {
  const imports = new Map<string, string[]>()
  const importsOf = (path: string): string[] => {
    const known = imports.get(path)
    if (known) return known
    const found = readImports(root, path)
    imports.set(path, found)
    return found
  }
  const tests = globSync(["src/**/*.test.ts", "cli/**/*.test.ts", "emulator/**/*.test.ts"], { cwd: root })
  const reached = new Map(tests.map((test) => [test, distances(test, importsOf)]))
  const pages = globSync("src/browser/page/**/*.ts", { cwd: root }).filter((path) => !path.endsWith(".test.ts"))
  return {
    sendersOf(file) {
      const parts = new Set([file])
      for (const part of parts) {
        const importing = pages.filter((path) => importsOf(path).includes(part))
        const senders = importing.filter((path) => !inPages.test(path))
        if (senders.length > 0) return senders
        for (const path of importing) parts.add(path)
      }
      return []
    },
    whole: globSync("test/{e2e,faults,recordings}/*.test.ts", { cwd: root }).toSorted(),
    of(file) {
      return tests
        .flatMap((test) => {
          const steps = reached.get(test)?.get(file)
          return steps === undefined ? [] : [{ test, steps, apart: apart(test, file) }]
        })
        .toSorted(
          (a, b) =>
            namesake(b.test, file) - namesake(a.test, file) ||
            a.apart - b.apart ||
            a.steps - b.steps ||
            a.test.localeCompare(b.test),
        )
        .slice(0, most)
        .map(({ test }) => test)
    },
  }
}

function readImports(root: string, path: string): string[] {
  let text: string
  try {
    text = readFileSync(join(root, path), "utf8")
  } catch {
    // The text of a program inside a test may import what is not here.
    return []
  }
  return [...text.matchAll(imported)].map(([, to = ""]) => normalize(join(dirname(path), to)))
}

/** How many imports away each file is. */
function distances(start: string, importsOf: (path: string) => string[]): Map<string, number> {
  const steps = new Map([[start, 0]])
  for (const [path, step] of steps) {
    for (const next of importsOf(path)) if (!steps.has(next)) steps.set(next, step + 1)
  }
  return steps
}

/** 1: the test beside the file that has its name. */
function namesake(test: string, file: string): number {
  return test === file.replace(/\.ts$/, ".test.ts") ? 1 : 0
}

/** Folders between the two. */
function apart(one: string, other: string): number {
  const [a, b] = [dirname(one).split(sep), dirname(other).split(sep)]
  let same = 0
  while (same < a.length && same < b.length && a[same] === b[same]) same += 1
  return a.length + b.length - 2 * same
}
