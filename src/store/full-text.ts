// The words of a question -> what the full-text indexes are asked, the most exact first. Words that stand everywhere say
// nothing and cost most, so the rarest of a question decide; nothing of it is an operator of the index's own language.
import type { SqliteHandle } from "./sqlite.ts"

export interface TextIndex {
  /** Indexes of words and of parts of words, and how often each word stands in the first. */
  words: string
  parts: string
  vocabulary: string
  /** The table that they are made of; its ids grow. */
  of: string
}

export interface TextMatch {
  table: string
  expression: string
  /** It may match most rows: what ranks them would read them all. */
  isBroad: boolean
}

const maxTerms = 12
/** Of a question; its first words say what it is about. */
const maxQuestion = 4_000
/** Three characters are the least that an index of parts knows. */
const partLength = 3
/** Beginnings of shorter words are those of too many others. */
const prefixLength = 4
/** A word in more rows than this share is one of those that stand everywhere. */
const commonShare = 0.02
const seldom = 50
/** Of a question that has common words alone. */
const broadTerms = 3

/** What the index is asked in turn, until it has found enough; nothing where the question has no word. */
export function matchesFor(handle: Pick<SqliteHandle, "prepare">, index: TextIndex, question: string): TextMatch[] {
  const terms = termsOf(question)
  const counted = terms.map((term) => ({ term, rows: rowsWith(handle, index, term) }))
  const limit = Math.max(seldom, lastId(handle, index) * commonShare)
  const rare = counted.filter(({ rows }) => rows <= limit).map(({ term }) => term)
  const isBroad = rare.length === 0
  const chosen = isBroad
    ? counted
        .toSorted((one, other) => one.rows - other.rows)
        .slice(0, broadTerms)
        .map(({ term }) => term)
    : rare
  const words = joined(index.words, chosen.map(wordOf), isBroad)
  const parts = joined(index.parts, chosen.filter((term) => [...term].length >= partLength).map(quoted), isBroad)
  return [...words, ...parts]
}

/** The words of a question, each once, without what stands around them. */
export function termsOf(question: string): string[] {
  const words =
    question
      .slice(0, maxQuestion)
      .normalize("NFC")
      .match(/[\p{L}\p{N}\p{M}]+(?:['’._@-][\p{L}\p{N}\p{M}]+)*/gu) ?? []
  return [...new Map(words.map((word) => [folded(word), word])).values()].slice(0, maxTerms)
}

/** All of them, then any of them. */
function joined(table: string, expressions: readonly string[], isBroad: boolean): TextMatch[] {
  if (expressions.length === 0) return []
  const all = { table, expression: expressions.join(" "), isBroad }
  return expressions.length === 1 ? [all] : [all, { table, expression: expressions.join(" OR "), isBroad }]
}

function wordOf(term: string): string {
  return [...term].length >= prefixLength ? `${quoted(term)}*` : quoted(term)
}

function quoted(term: string): string {
  return `"${term.replaceAll('"', '""')}"`
}

/** As the index keeps its words. */
function folded(term: string): string {
  return term
    .normalize("NFD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
}

function rowsWith(handle: Pick<SqliteHandle, "prepare">, { vocabulary }: TextIndex, term: string): number {
  return Number(handle.prepare(`select doc from ${vocabulary} where term = ?`).get(folded(term))?.["doc"] ?? 0)
}

function lastId(handle: Pick<SqliteHandle, "prepare">, { of }: TextIndex): number {
  return Number(handle.prepare(`select max(id) as last from ${of}`).get()?.["last"] ?? 0)
}
