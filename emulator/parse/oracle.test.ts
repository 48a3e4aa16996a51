// Compares our parsers with the platform's own, which runs here offline: same error texts, same plain text and entities.
import assert from "node:assert/strict"
import { createRequire } from "node:module"
import { test } from "node:test"
import { Random } from "../random.ts"
import type { ParsedText } from "./entity.ts"
import { parseHtml } from "./html.ts"
import { parseMarkdown } from "./markdown.ts"
import { parseMarkdownV2 } from "./markdown-v2.ts"

interface PlatformEntity {
  offset: number
  length: number
  type: Record<string, unknown> & { _: string }
}
interface Tdl {
  configure(options: object): void
  execute(request: object): { _: string; message?: string; text?: string; entities?: PlatformEntity[] }
}

const require = createRequire(import.meta.url)
const tdl = require("tdl") as Tdl
const { getTdjson } = require("prebuilt-tdlib") as { getTdjson(): string }
tdl.configure({ tdjson: getTdjson(), verbosityLevel: 0 })

const modes = {
  html: { mode: { _: "textParseModeHTML" }, parse: parseHtml },
  markdown: { mode: { _: "textParseModeMarkdown", version: 1 }, parse: parseMarkdown },
  markdownV2: { mode: { _: "textParseModeMarkdown", version: 2 }, parse: parseMarkdownV2 },
}
type Mode = keyof typeof modes

const names: Record<string, string> = {
  TextUrl: "text_link",
  MentionName: "text_mention",
  PreCode: "pre",
  BlockQuote: "blockquote",
  ExpandableBlockQuote: "expandable_blockquote",
  CustomEmoji: "custom_emoji",
  DateTime: "date_time",
}

function platformResult(mode: Mode, text: string): unknown {
  const answer = tdl.execute({ _: "parseTextEntities", text, parse_mode: modes[mode].mode })
  if (answer._ === "error") return { error: answer.message }
  const entities = answer.entities?.map(({ offset, length, type }) => {
    const name = type._.slice("textEntityType".length)
    const detail = type["url"] ?? type["user_id"] ?? type["language"] ?? type["custom_emoji_id"] ?? type["unix_time"]
    return [names[name] ?? name.toLowerCase(), offset, length, String(detail ?? "")]
  })
  return { text: answer.text, entities }
}

function ownResult(mode: Mode, source: string): unknown {
  let parsed: ParsedText
  try {
    parsed = modes[mode].parse(source)
  } catch (error) {
    assert.ok(error instanceof Error)
    assert.match(error.message, /^Bad Request: can't parse entities: /)
    return { error: error.message.replace("Bad Request: can't", "Can't") }
  }
  const entities = parsed.entities.map((entity) => {
    const detail = entity.url ?? entity.userId ?? entity.language ?? entity.custom_emoji_id ?? entity.unix_time
    return [entity.type, entity.offset, entity.length, String(detail ?? "")]
  })
  return { text: parsed.text, entities }
}

function compare(mode: Mode, source: string): void {
  assert.deepEqual(ownResult(mode, source), platformResult(mode, source), `${mode}: ${JSON.stringify(source)}`)
}

/** Strings of up to nine tokens, the same ones in every run. */
function generated(tokens: readonly string[], count: number): string[] {
  const random = new Random(20_260_824)
  return Array.from({ length: count }, () => {
    const length = random.integer(1, 9)
    return Array.from({ length }, () => tokens[random.integer(0, tokens.length - 1)] ?? "").join("")
  })
}

const htmlTokens =
  `<b> </b> <i> </i> <u> <s> </S> <a·href=" e.com "> </a> < > </ </> &lt; &amp &#65; &#x1F600; &#xD83D; &bogus; &
  x é 🙂 <pre> </pre> <code·class="language-js"> <code> </code> <blockquote> <blockquote·expandable> </blockquote>
  <span·class="tg-spoiler"> </span> <tg-emoji·emoji-id=" 123 </tg-emoji> <tg-time·unix="1 "·format=" wDt r </tg-time>
  = " ' / <b· a=b HREF= class= tg://user?id= http:// https:// javascript: [::1] :80 @ % ? # . - _ <u·x tg: ton: tonsite:`
    .split(/\s+/)
    .map((token) => token.replaceAll("·", " "))
    .concat([" ", "\n", "\t", "\0", "\v", "\f", "\r"])

const markdownTokens =
  "* _ __ ~ || | ` ``` ```js· [ ] ( ) ![ ](e.com) ](tg://emoji?id=12) ](tg://time?unix=5&format= r) ](tg://user?id=7) \\ > **> x é 🙂 . ! # a·b e.com \\* \\\\ **"
    .split(" ")
    .map((token) => token.replaceAll("·", "\n"))
    .concat([" ", "\n", "\r", "\n>", "||\n"])

const htmlByHand = [
  "",
  "<b>x",
  "<b",
  "<b ",
  "<b x",
  "<b x=",
  '<b x="',
  "<b x=y",
  "</b",
  "<b>x</b",
  "<b>x</",
  "<b>x</ b>",
  "<b/>",
  "<br>",
  "<p>x</p>",
  "<!-- x -->",
  "a < b",
  "a<1",
  "1 > 0",
  "<>",
  "</>",
  "<b>x</>",
  "<B>x</b >",
  "<i><b>x</i></b>",
  "<strong>x</b>",
  "<b><b>x</b></b>",
  "<b>x</b><b>y</b>",
  "<a>http://e.com</a>",
  '<a href="">e.com</a>',
  "<a href=http://e.com>y</a>",
  "<a href=e.com>y</a>",
  "<a href>y</a>",
  "<a href =x.com>y</a>",
  '<a href="mailto:a@b.c">x</a>',
  '<a href="javascript:x">x</a>',
  '<a href="ftp://a.b">x</a>',
  '<a href="/rel">x</a>',
  '<a href="http://localhost">x</a>',
  '<a href="http://127.0.0.1:8080/">x</a>',
  '<a href="http://e.com:0/">x</a>',
  '<a href="http://e.com:99999/">x</a>',
  '<a href="http://[::1]/">x</a>',
  '<a href="http://u:p@e.com/a b?c#d">x</a>',
  '<a href="tg://user?id=123">x</a>',
  '<a href="tg://user?id=0">x</a>',
  '<a href="tg://resolve?domain=x">x</a>',
  "<span>x</span>",
  '<span class="x">x</span>',
  '<span class="TG-SPOILER">x</span>',
  "<tg-emoji>👍</tg-emoji>",
  '<tg-emoji emoji-id="x">👍</tg-emoji>',
  '<tg-emoji emoji-id="9223372036854775808">👍</tg-emoji>',
  '<tg-emoji emoji-id="-5">👍</tg-emoji>',
  '<tg-time unix="1647531900" format="zz">a</tg-time>',
  '<tg-time unix="1647531900" format="wDT">a</tg-time>',
  '<tg-time unix="x">a</tg-time>',
  '<tg-time unix="2147483648">a</tg-time>',
  '<pre><code class="language-js">x</code></pre>',
  '<pre> <code class="language-js">x</code></pre>',
  '<code class="language-js"><pre>x</pre></code>',
  '<pre class="language-x">x</pre>',
  "<blockquote><blockquote>x</blockquote>y</blockquote>",
  "&nbsp;&apos;&copy;&hellip;",
  "&#0;",
  "&#x110000;",
  "&#xD83D;",
  "&#xD83D;&#xDE00;",
  "&lt&gt",
  "&#65x",
  "&LT;",
  "🙂<b>🙂</b>",
  "é<b>",
  "<u =b>x</u>",
  '<u "b">x</u>',
  "<u a=&lt;>x</u>",
  "<details>x</details>",
  "<h1>x</h1>",
  "<ul><li>x</li></ul>",
]

test("reads HTML as the platform does, by hand-picked and by generated strings", () => {
  for (const source of [...htmlByHand, ...generated(htmlTokens, 1500)]) compare("html", source)
})

test("reads MarkdownV2 as the platform does", () => {
  const byHand = [
    "*b*",
    "_i_ __u__ ~s~ ||p||",
    "a.b",
    "[a](",
    "[a*b](e.com)",
    ">a||",
    ">a||\n>b",
    "**>a\n>b||",
    ">*b\nc*",
    "```js\nx```",
    "___a___",
    "![x](e.com)",
    "![x]",
  ]
  for (const source of [...byHand, ...generated(markdownTokens, 1500)]) compare("markdownV2", source)
})

test("reads the old Markdown as the platform does", () => {
  const byHand = [
    "*b*",
    "_i_",
    "[a](e.com)",
    "[a](e.com",
    "[](e.com)",
    "*b",
    "```js x```",
    "```\nx\n```",
    "\\*x\\*",
    "snake_case",
  ]
  for (const source of [...byHand, ...generated(markdownTokens, 1000)]) compare("markdown", source)
})
