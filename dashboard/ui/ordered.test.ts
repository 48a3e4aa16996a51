import assert from "node:assert/strict"
import { test } from "node:test"
import { createOrdered } from "./ordered.ts"

interface Row {
  id: string
  at: number
  words?: string
}

test("rows that come, change, move and go are where a sort of all of them would have them", () => {
  const ordered = createOrdered<Row>(({ at }) => at)
  const all = new Map<string, Row>()
  let seed = 7
  const random = (below: number) => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % below
  for (let round = 0; round < 400; round += 1) {
    const put = new Map(
      Array.from({ length: random(6) }, () => `r${random(60)}`).map((id) => [
        id,
        { id, at: random(20), words: `${round}` },
      ]),
    )
    const gone = [...all.values()].filter(({ id }) => !put.has(id) && random(15) === 0)
    const rows = ordered.change([...put.values()], gone)
    for (const row of put.values()) all.set(row.id, row)
    for (const { id } of gone) all.delete(id)
    assert.equal(rows.length, all.size)
    assert.ok(rows.every((row, index) => all.get(row.id) === row && (rows[index - 1]?.at ?? Infinity) >= row.at))
  }
})

test("what is kept stands alone, and is changed from there", () => {
  const ordered = createOrdered<Row>(({ at }) => at)
  ordered.change([1, 2, 3].map((at) => ({ id: `r${at}`, at })))
  ordered.keep([{ id: "r3", at: 3 }])
  assert.deepEqual(
    ordered.change([{ id: "r1", at: 9 }], [{ id: "r2", at: 2 }]).map(({ id, at }) => `${id} ${at}`),
    ["r1 9", "r3 3"],
  )
})
