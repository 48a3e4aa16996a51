// For tests: seeded changes of JSON, as a broken server makes them: wrong types, missing and null fields, huge and negative
// numbers, other forms of the whole.

export type Random = () => number

/** mulberry32: the same numbers for the same seed. */
export function randomOf(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const odd: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  1e300,
  "",
  "x",
  "\ud800",
  "__proto__",
  [],
  [null],
  [[]],
  {},
  { id: "7" },
  { toString: 1 },
]

/** One to three places of it changed; the value itself stays as it is. */
export function mutate(value: unknown, random: Random): unknown {
  let changed = structuredClone(value)
  const times = 1 + Math.floor(random() * 3)
  for (let time = 0; time < times; time += 1) changed = mutateOnce(changed, random)
  return changed
}

function mutateOnce(value: unknown, random: Random): unknown {
  const isBranch = typeof value === "object" && value !== null
  const keys = isBranch ? Object.keys(value) : []
  // Deeper rather than here: there are more places below than above.
  if (keys.length === 0 || random() < 0.08) return structuredClone(odd[Math.floor(random() * odd.length)])
  const key = keys[Math.floor(random() * keys.length)] as string
  const record = value as Record<string, unknown>
  if (random() < 0.1) delete record[key]
  else record[key] = mutateOnce(record[key], random)
  return record
}
