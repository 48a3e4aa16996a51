// Two inline rules that CommonMark lacks: `||spoiler||`, and underline as it is written, `<u>words</u>`. `__words__`
// stays bold, as CommonMark has it. Both are delimiters, so that they nest with the others and cost no search.
import type MarkdownIt from "markdown-it"

type Parser = InstanceType<typeof MarkdownIt>
type Rule = Parameters<Parser["inline"]["ruler"]["push"]>[1]
type State = Parameters<Rule>[0]

const bar = 0x7c
const lessThan = 0x3c

export function addMarks(parser: Parser): void {
  const { ruler, ruler2 } = parser.inline
  ruler.at("text", plainText)
  ruler.before("emphasis", "spoiler", spoiler)
  ruler.before("autolink", "underline", underline)
  ruler2.before("emphasis", "marks", (state) => {
    pairUp(state, state.delimiters)
    for (const meta of state.tokens_meta) if (meta?.delimiters) pairUp(state, meta.delimiters)
  })
}

/** Everything up to a character that may begin something; the parser's own rule would run over the bar. */
const plainRun = /[^\n!#$%&*+\-:<=>@[\\\]^_`{|}~]+/y

function plainText(state: State, silent: boolean): boolean {
  plainRun.lastIndex = state.pos
  const run = plainRun.exec(state.src)?.[0]
  if (run === undefined) return false
  const text = state.pos + run.length > state.posMax ? run.slice(0, state.posMax - state.pos) : run
  if (!silent) state.pending += text
  state.pos += text.length
  return text !== ""
}

/** Not inside words: `a||b` is how people write "or". */
function spoiler(state: State, silent: boolean): boolean {
  const { src, pos, posMax } = state
  if (silent || src.charCodeAt(pos) !== bar || src.charCodeAt(pos + 1) !== bar) return false
  // Of a longer run the rest would be counted again from each of its bars.
  if (pos + 1 >= posMax || (pos + 2 < posMax && src.charCodeAt(pos + 2) === bar)) return false
  const { can_open: open, can_close: close } = state.scanDelims(pos, false)
  if (!open && !close) return false
  pushDelimiter(state, { text: "||", marker: bar, open, close })
  return true
}

function underline(state: State, silent: boolean): boolean {
  if (silent || state.src.charCodeAt(state.pos) !== lessThan) return false
  const tag = state.src.slice(state.pos, Math.min(state.pos + 4, state.posMax)).toLowerCase()
  const open = tag.startsWith("<u>")
  if (!open && tag !== "</u>") return false
  pushDelimiter(state, {
    text: state.src.slice(state.pos, state.pos + (open ? 3 : 4)),
    marker: lessThan,
    open,
    close: !open,
  })
  return true
}

function pushDelimiter(state: State, mark: { text: string; marker: number; open: boolean; close: boolean }): void {
  const token = state.push("text", "", 0)
  token.content = mark.text
  const { marker, open, close } = mark
  state.delimiters.push({ marker, length: 0, token: state.tokens.length - 1, end: -1, open, close })
  state.pos += mark.text.length
}

function pairUp(state: State, delimiters: State["delimiters"]): void {
  for (const opener of delimiters) {
    const closer = delimiters[opener.end]
    if (!closer || (opener.marker !== bar && opener.marker !== lessThan)) continue
    const name = opener.marker === bar ? "spoiler" : "underline"
    become(state.tokens[opener.token], `${name}_open`, 1)
    become(state.tokens[closer.token], `${name}_close`, -1)
  }
}

function become(token: State["tokens"][number] | undefined, type: string, nesting: 1 | -1): void {
  if (!token) return
  token.type = type
  token.nesting = nesting
  token.content = ""
}
