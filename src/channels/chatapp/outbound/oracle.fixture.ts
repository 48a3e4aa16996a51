// For tests: the platform's own parser of formatted text, which runs here offline, and all that must hold of every cut.
import assert from "node:assert/strict"
import { createRequire } from "node:module"
import { type ChunkMode, chunkPieces } from "./chunk.ts"
import { type TableMode, createRenderer } from "./render.ts"
import { toPlain } from "./spans.ts"

interface Parsed {
  _: string
  message?: string
  text: string
  entities: { offset: number; length: number; type: { _: string; url?: string; language?: string } }[]
}
interface Tdl {
  configure(options: object): void
  execute(request: object): Parsed
}

const require = createRequire(import.meta.url)
const tdl = require("tdl") as Tdl
const { getTdjson } = require("prebuilt-tdlib") as { getTdjson(): string }
tdl.configure({ tdjson: getTdjson(), verbosityLevel: 0 })

export const render = createRenderer()

export const html = (markdown: string, limit = 4000, mode: ChunkMode = "length") =>
  chunkPieces(render(markdown), limit, mode).map((chunk) => chunk.html)

export function parsedByPlatform(text: string): Parsed {
  const parsed = tdl.execute({ _: "parseTextEntities", text, parse_mode: { _: "textParseModeHTML" } })
  assert.notEqual(parsed._, "error", `${parsed.message} in ${JSON.stringify(text)}`)
  return parsed
}

/** Cuts, and checks all that must hold for every input. */
export function checkCut(
  markdown: string,
  limit: number,
  { mode = "length", tables = "code" }: { mode?: ChunkMode; tables?: TableMode } = {},
): string[] {
  const pieces = render(markdown, tables)
  const chunks = chunkPieces(pieces, limit, mode)
  for (const chunk of chunks) {
    assert.equal(parsedByPlatform(chunk.html).text, chunk.plain)
    assert.ok(chunk.plain.length <= Math.max(limit, 2), `${chunk.plain.length} > ${limit}`)
    assert.ok(Buffer.byteLength(chunk.html) <= 30 * 1024)
    assert.ok(chunk.plain.isWellFormed(), "no surrogate pair is cut")
  }
  const compact = (text: string) => text.replace(/[\s\p{Cc}\p{Cf}\p{Variation_Selector}]/gu, "")
  assert.equal(compact(chunks.map((chunk) => chunk.plain).join("")), compact(toPlain(pieces)))
  return chunks.map((chunk) => chunk.plain)
}
