// No text can stop the process: every function that sees text of strangers, fed with texts that grow, of every shape that
// has ever made one slow. Growth is asserted, not time. A longer run: FOREIGN_TEXT_SIZE=20000.
import { after, before, test } from "node:test"
import type { Store } from "../../src/store/index.ts"
import { foreignReaders, hostileShapes } from "../support/foreign-readers.ts"
import { assertGrowsInLine } from "../support/growth.ts"
import { testStore } from "../support/store.ts"

let store: Store
const ends: (() => unknown)[] = []
before(async () => void (store = await testStore({ after: (end: () => unknown) => void ends.push(end) } as never)))
after(async () => {
  for (const end of ends) await end()
})

const size = Number(process.env["FOREIGN_TEXT_SIZE"] ?? 1_500)
for (const name of Object.keys(foreignReaders({} as Store))) {
  test(`${name} takes time in proportion to its text, whatever the shape`, async () => {
    const read = foreignReaders(store)[name]
    for (const shape of hostileShapes) {
      const work = (length: number) => read?.(`x ${shape.repeat(length / shape.length)} x`)
      await assertGrowsInLine(work, { size, what: `${name} ${JSON.stringify(shape)}` })
    }
  })
}
