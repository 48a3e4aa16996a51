// Files that share names, before and after the names are short.
import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../test/support/temporary.ts"
import { shareNames } from "./shared-names.mjs"

const shared = `const double = (n) => 2 * n
const greet = (name) => ({ name, length: double(name.length) })
export { double, greet as hello }`
const page = `import { double as twice, hello } from "./shared.js"
const read = ({ twice = 3 }, hello) => [twice, { hello }, hello.twice]
const told = { twice, hello: hello("you"), twiceMore: (a) => twice(twice(a)) }
export { read as default, told }`

test("names that files share are the same in all of them, and all do what they did", async () => {
  const { files, names } = shareNames(new Map(Object.entries({ "shared.js": shared, "page.js": page })))
  // It names `double` three times, `greet` once beside its export.
  assert.deepEqual(names, ["A", "B"])
  assert.match(files.get("shared.js") ?? "", /export \{ A, B \}$/)
  assert.match(files.get("page.js") ?? "", /^import \{ A, B \} from/)
  const folder = temporaryFolder()
  for (const [name, code] of files) writeFileSync(join(folder, name), code)
  const made = (await import(join(folder, "page.js"))) as {
    default(given: object, hello: object): unknown
    told: { twice(n: number): number; hello: object; twiceMore(n: number): number }
  }
  assert.deepEqual(made.default({}, { twice: 5 }), [3, { hello: { twice: 5 } }, 5])
  assert.deepEqual(made.told.hello, { name: "you", length: 6 })
  assert.equal(made.told.twice(4) + made.told.twiceMore(1), 12)
})

test("the names are those of the file that is shared alone, whatever asks for them", () => {
  const other = `import { hello, double } from "./shared.js"\nhello(double(1)); hello(2); hello(3)`
  const shortOf = (asking: string) =>
    shareNames(new Map(Object.entries({ "shared.js": shared, "page.js": asking }))).files.get("shared.js")
  assert.equal(shortOf(other), shortOf(page))
})

test("a name that stands for something already is told", () => {
  const files = new Map(Object.entries({ "shared.js": shared, "page.js": `${page}\nconst B = 1` }))
  assert.throws(() => shareNames(files), /B is the name of something already/)
})
