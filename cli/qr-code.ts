// A QR code as text for the terminal (ISO/IEC 18004, byte mode, correction level L, versions 1 to 9): what a link of the
// page is short enough for. Text -> bits -> code words with their Reed-Solomon remainder -> modules -> the mask with the
// fewest traps for a reader -> half blocks.
import { AppError } from "../src/kernel/errors.ts"

/** By version: code words of data, of correction in a block, blocks, centres of the alignment patterns. */
const versions: readonly [data: number, correction: number, blocks: number, centres: readonly number[]][] = [
  [19, 7, 1, []],
  [34, 10, 1, [6, 18]],
  [55, 15, 1, [6, 22]],
  [80, 20, 1, [6, 26]],
  [108, 26, 1, [6, 30]],
  [136, 18, 2, [6, 34]],
  [156, 20, 2, [6, 22, 38]],
  [194, 24, 2, [6, 24, 42]],
  [232, 30, 2, [6, 26, 46]],
]

type Grid = boolean[][]

/** Throws `bad-request` for more than 230 bytes. */
export function drawQrCode(text: string): string {
  const grid = makeQrCode(text)
  const quiet = 2
  const at = (y: number, x: number) => grid[y - quiet]?.[x - quiet] ?? false
  const size = grid.length + 2 * quiet
  const lines: string[] = []
  for (let y = 0; y < size; y += 2) {
    // Light modules are drawn and dark ones left, so that it is right on a dark terminal; colours make it so everywhere.
    const cells = Array.from(
      { length: size },
      (_, x) => [" ", "▄", "▀", "█"][(at(y, x) ? 0 : 2) + (at(y + 1, x) ? 0 : 1)],
    )
    lines.push(`\u001b[97;40m${cells.join("")}\u001b[0m`)
  }
  return lines.join("\n")
}

/** Rows of modules, true for dark. */
export function makeQrCode(text: string): Grid {
  const bytes = new TextEncoder().encode(text)
  const index = versions.findIndex(([data]) => bytes.length <= data - 2)
  if (index === -1) throw new AppError("bad-request", "The text is too long for a QR code")
  const words = codeWords(bytes, index)
  const masks = Array.from({ length: 8 }, (_, mask) => drawGrid(words, index, mask))
  return masks.reduce((best, grid) => (penalty(grid) < penalty(best) ? grid : best))
}

function codeWords(bytes: Uint8Array, index: number): number[] {
  const [capacity, correction, blocks] = versions[index] as (typeof versions)[number]
  // Mode 0100, eight bits of length, the bytes, an end of four bits: all of it shifted by half a byte.
  const shifted = [
    0x4,
    bytes.length >> 4,
    bytes.length & 15,
    ...[...bytes].flatMap((byte) => [byte >> 4, byte & 15]),
    0,
  ]
  const data: number[] = []
  for (let n = 0; n < shifted.length; n += 2) data.push(((shifted[n] ?? 0) << 4) | (shifted[n + 1] ?? 0))
  for (let pad = 0xec; data.length < capacity; pad ^= 0xec ^ 0x11) data.push(pad)
  const length = capacity / blocks
  const parts = Array.from({ length: blocks }, (_, n) => data.slice(n * length, (n + 1) * length))
  const checks = parts.map((part) => remainder(part, correction))
  const interleave = (lists: number[][]) => (lists[0] ?? []).flatMap((_, n) => lists.map((list) => list[n] as number))
  return [...interleave(parts), ...interleave(checks)]
}

/** Product in the field of 256 elements with the polynomial 0x11d. */
function multiply(a: number, b: number): number {
  let product = 0
  for (let bit = 7; bit >= 0; bit -= 1) product = (product << 1) ^ ((product >> 7) * 0x11d) ^ (((b >> bit) & 1) * a)
  return product
}

function remainder(data: readonly number[], degree: number): number[] {
  let divisor = [...Array<number>(degree - 1).fill(0), 1]
  let root = 1
  for (let n = 0; n < degree; n += 1) {
    divisor = divisor.map((value, place) => multiply(value, root) ^ (divisor[place + 1] ?? 0))
    root = multiply(root, 2)
  }
  let rest = Array<number>(degree).fill(0)
  for (const byte of data) {
    const factor = byte ^ (rest[0] as number)
    rest = divisor.map((value, place) => multiply(value, factor) ^ (rest[place + 1] ?? 0))
  }
  return rest
}

function drawGrid(words: readonly number[], index: number, mask: number): Grid {
  const size = 21 + 4 * index
  const grid: Grid = Array.from({ length: size }, () => Array<boolean>(size).fill(false))
  const isFixed: Grid = Array.from({ length: size }, () => Array<boolean>(size).fill(false))
  const set = (y: number, x: number, dark: boolean) => {
    if (y < 0 || x < 0 || y >= size || x >= size) return
    ;(grid[y] as boolean[])[x] = dark
    ;(isFixed[y] as boolean[])[x] = true
  }
  drawPatterns(set, index, size)
  drawFormat(set, mask, size)
  if (index >= 6) drawVersion(set, index + 1, size)
  let bit = 0
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5
    const isUpward = ((right + 1) & 2) === 0
    for (let step = 0; step < size; step += 1) {
      const y = isUpward ? size - 1 - step : step
      for (const x of [right, right - 1]) {
        if (isFixed[y]?.[x]) continue
        const isDark = (((words[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1
        bit += 1
        ;(grid[y] as boolean[])[x] = isDark !== isMasked(mask, y, x)
      }
    }
  }
  return grid
}

type Setter = (y: number, x: number, dark: boolean) => void

function drawPatterns(set: Setter, index: number, size: number): void {
  for (let n = 0; n < size; n += 1) {
    set(6, n, n % 2 === 0)
    set(n, 6, n % 2 === 0)
  }
  for (const [y, x] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ] as const) {
    eachAround(4, (dy, dx, ring) => set(y + dy, x + dx, ring !== 2 && ring !== 4))
  }
  const centres = versions[index]?.[3] ?? []
  const last = centres.length - 1
  centres.forEach((y, row) => {
    centres.forEach((x, column) => {
      // The three corners belong to the finders.
      if ((row === 0 && (column === 0 || column === last)) || (row === last && column === 0)) return
      eachAround(2, (dy, dx, ring) => set(y + dy, x + dx, ring !== 1))
    })
  })
}

function eachAround(reach: number, visit: (dy: number, dx: number, ring: number) => void): void {
  for (let dy = -reach; dy <= reach; dy += 1) {
    for (let dx = -reach; dx <= reach; dx += 1) visit(dy, dx, Math.max(Math.abs(dy), Math.abs(dx)))
  }
}

function drawFormat(set: Setter, mask: number, size: number): void {
  // Level L is 01.
  const data = (1 << 3) | mask
  let rest = data
  for (let n = 0; n < 10; n += 1) rest = (rest << 1) ^ ((rest >> 9) * 0x537)
  const bits = ((data << 10) | rest) ^ 0x5412
  const dark = (n: number) => ((bits >> n) & 1) === 1
  for (let n = 0; n < 15; n += 1) {
    set(n < 6 ? n : n < 8 ? n + 1 : size - 15 + n, 8, dark(n))
    set(8, n < 8 ? size - 1 - n : n < 9 ? 7 : 14 - n, dark(n))
  }
  set(size - 8, 8, true)
}

function drawVersion(set: Setter, version: number, size: number): void {
  let rest = version
  for (let n = 0; n < 12; n += 1) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25)
  const bits = (version << 12) | rest
  for (let n = 0; n < 18; n += 1) {
    const isDark = ((bits >> n) & 1) === 1
    const far = size - 11 + (n % 3)
    set(far, Math.floor(n / 3), isDark)
    set(Math.floor(n / 3), far, isDark)
  }
}

function isMasked(mask: number, y: number, x: number): boolean {
  const product = (y * x) % 2
  const third = (y * x) % 3
  const rules = [
    (y + x) % 2,
    y % 2,
    x % 3,
    (y + x) % 3,
    (Math.floor(y / 2) + Math.floor(x / 3)) % 2,
    product + third,
    (product + third) % 2,
    (((y + x) % 2) + third) % 2,
  ]
  return rules[mask] === 0
}

function penalty(grid: Grid): number {
  const lines = [...grid, ...grid.map((_, x) => grid.map((row) => row[x] as boolean))]
  let points = 0
  for (const line of lines) {
    const text = line.map(Number).join("")
    for (const run of text.match(/0{5,}|1{5,}/g) ?? []) points += run.length - 2
    points += 40 * (text.match(/(?=10111010000|00001011101)/g) ?? []).length
  }
  grid.forEach((row, y) => {
    row.forEach((dark, x) => {
      if (dark === row[x + 1] && dark === grid[y + 1]?.[x] && dark === grid[y + 1]?.[x + 1]) points += 3
    })
  })
  const share = grid.flat().filter(Boolean).length / grid.length ** 2
  return points + Math.floor(Math.abs(share - 0.5) * 20) * 10
}
