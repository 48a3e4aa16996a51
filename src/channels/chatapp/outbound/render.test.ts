// Rendering and cutting, held to the platform's own parser, which runs here offline.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { describe, test } from "node:test"
import fc from "fast-check"
import { describeAction, questionInMarkdown } from "../../../approvals/index.ts"
import { chunkPieces } from "./chunk.ts"
import { checkCut, html, parsedByPlatform, render } from "./oracle.fixture.ts"

const fragments = [
  ..."**,*,_,__,~~,||,<u>,</u>,[ ] ,- [x] ,`,``,```\n,```js\n,~~~\n,> ,>> ,- ,* ,1. ,7) ,# ,### ,---\n,\n,\n\n,    ,\t,\\,|,| a | b |\n|---|:-:|\n| 1 | 2 |\n".split(
    ",",
  ),
  ...'<b>,</b>,<br/>,<a href="x">,&amp;,&lt;,&nbsp;,&#0;,&copy;,<,>,&,",\''.split(","),
  ..."[a](https://x.y),[b](javascript:alert(1)),[c](<https://x.y/ z>),![d](http://e.f/g.png),[![h](http://i.j/k.png)](http://l.m),<https://n.o>,https://p.q/r_s_t,[u]: http://v.w,[,](,)".split(
    ",",
  ),
  ..."word,two words,Ünïcödé,日本語,👨‍👩‍👧‍👦,🇩🇪,e\u0301,\u202eright,\ud83d,\u0000,\u200b,\u00a0,x".split(","),
]
const randomMarkdown = fc
  .array(fc.oneof(fc.constantFrom(...fragments), fc.string({ maxLength: 12 })), { maxLength: 60 })
  .map((parts) => parts.join(""))

describe("every text", () => {
  test("becomes messages that the platform's parser takes, with the same characters", () => {
    fc.assert(
      fc.property(
        randomMarkdown,
        fc.constantFrom(1, 2, 7, 40, 4000),
        fc.constantFrom("length", "newline"),
        fc.constantFrom("code", "bullets", "off"),
        (markdown, limit, mode, tables) => void checkCut(markdown, limit, { mode, tables }),
      ),
      { numRuns: 1200 },
    )
  })

  test("keeps its words in order, whatever formatting they carry", () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/)
    const inline = fc.oneof(
      word,
      word.map((text) => `**${text}**`),
      word.map((text) => `*${text}*`),
      word.map((text) => `~~${text}~~`),
      word.map((text) => `||${text}||`),
      word.map((text) => `<U>${text}</U>`),
      word.map((text) => `\`${text}\``),
      fc.tuple(word, word).map(([a, b]) => `**${a} *${b}***`),
      word.map((text) => `[${text}](https://example.com/0)`),
    )
    const line = fc.array(inline, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(" "))
    const block = fc.oneof(
      line,
      line.map((text) => `## ${text}`),
      line.map((text) => `> ${text}`),
      fc.array(line, { minLength: 1, maxLength: 4 }).map((lines) => lines.map((text) => `- ${text}`).join("\n")),
      fc
        .array(line, { minLength: 1, maxLength: 4 })
        .map((lines) => lines.map((text) => `- ${text}\n  - ${text}`).join("\n")),
      word.map((text) => `\`\`\`\n${text}\n\`\`\``),
      fc.tuple(word, word, word, word).map(([a, b, c, d]) => `| ${a} | ${b} |\n|---|---|\n| ${c} | ${d} |`),
    )
    const document = fc.array(block, { minLength: 1, maxLength: 8 }).map((blocks) => blocks.join("\n\n"))
    const words = (text: string) => text.match(/[a-z]+/g) ?? []
    fc.assert(
      fc.property(document, fc.constantFrom(30, 200, 4000), (markdown, limit) => {
        checkCut(markdown, limit)
        const shown = chunkPieces(render(markdown), Math.max(limit, 30)).map((chunk) => chunk.plain)
        assert.deepEqual(words(shown.join("\n")), words(markdown.replaceAll("(https://example.com/0)", "")))
      }),
      { numRuns: 250 },
    )
  })
})

describe("every construct of CommonMark and GFM", () => {
  const inlines = [
    ..."plain,*em*,_em_,**strong**,__strong__,***both***,~~strike~~,||hidden||,<u>under</u>,`code`,`` a`b ``".split(
      ",",
    ),
    ..."[link](https://a.b 'title'),[link](<https://a.b/c d>),![image](https://a.b/c.png),[![image](https://a.b/c)](https://d.e)".split(
      ",",
    ),
    ..."<https://a.b>,<a@b.cd>,https://a.b/c_d_e,a\\*b,&amp;,&copy;,&#35;,<b>html</b>,<!-- note -->,<?php ?>,hard  \nbreak,soft\nbreak".split(
      ",",
    ),
    ..."*a **b***,**a *b***,*a [b](https://c.d) e*,~~a **b** c~~,**a `b` c**,*unclosed,**un*closed,`unclosed,[open](,]( ,||a **b|| c**,<u>a ||b</u> c||".split(
      ",",
    ),
  ]
  const blocks: ((inline: string) => string)[] = [
    (inline) => inline,
    (inline) => `# ${inline}\n## ${inline} ##\ntext`,
    (inline) => `${inline}\n===\n${inline}\n---`,
    (inline) => `- ${inline}\n- ${inline}\n\n- ${inline}`,
    (inline) => `* ${inline}\n    + ${inline}\n        1) ${inline}`,
    (inline) => `2. ${inline}\n\n   ${inline}\n3. - ${inline}`,
    (inline) => `- [ ] ${inline}\n- [X] ${inline}`,
    (inline) => `> ${inline}\nlazy ${inline}\n>> ${inline}`,
    (inline) => `> - ${inline}\n>   > ${inline}\n> \n> # ${inline}`,
    (inline) =>
      `| a | ${inline.replaceAll("\n", " ")} |\n|:-:|--:|\n| ${inline.replaceAll("\n", " ")} |\n| x | y | z |`,
    (inline) => `\`\`\`lang ${"info"}\n${inline}\n\`\`\``,
    (inline) => `~~~\n${inline}\n~~~\n\n    ${inline}`,
    (inline) => `- \`\`\`\n  ${inline}\n  \`\`\``,
    (inline) => `${inline}\n\n***\n\n${inline}\n_ _ _`,
    (inline) => `<div>\n${inline}\n</div>\n\n<pre>${inline}</pre>`,
    (inline) => `[ref]: https://a.b "t"\n\n[ref] ${inline} [^1]\n\n[^1]: note`,
  ]

  test("in every combination is taken by the platform's parser, whole and cut", () => {
    for (const block of blocks) {
      for (const inline of inlines) {
        const markdown = `${block(inline)}\n\n${block(`${inline} ${inline}`)}`
        const modes = markdown.includes("|:-:|") ? (["code", "bullets", "off"] as const) : (["code"] as const)
        for (const tables of modes) checkCut(markdown, 4000, { tables })
        for (const limit of [3, 17, 64]) checkCut(markdown, limit, { mode: limit === 17 ? "newline" : "length" })
      }
    }
  })

  const gfm = new URL("../../../../test/fixtures/markdown/gfm.json", import.meta.url)
  const commonMark = createRequire(import.meta.url)("commonmark-spec") as { tests: { markdown: string }[] }
  const specs: Record<string, string[]> = {
    CommonMark: commonMark.tests.map(({ markdown }) => markdown.replaceAll("→", "\t")),
    "the extensions of GFM": JSON.parse(readFileSync(gfm, "utf8")),
  }
  for (const [name, examples] of Object.entries(specs)) {
    test(`of the examples in the specification of ${name} is taken by the platform's parser, whole and cut`, () => {
      assert.ok(examples.length > 20)
      for (const markdown of examples) for (const limit of [4000, 17]) checkCut(markdown, limit)
    })
  }

  test("nested deeper than the parser looks loses no word", () => {
    assert.match(html(`${"> ".repeat(300)}deep`).join(""), /deep/)
    assert.match(html(`${"**a [".repeat(300)}deep`).join(""), /deep/)
  })
})

describe("formatting", () => {
  const cases: [string, string, string][] = [
    ["bold, italic, strike and code", "**b** *i* ~~s~~ `c<`", "<b>b</b> <i>i</i> <s>s</s> <code>c&lt;</code>"],
    ["headings as bold lines", "# One\ntext", "<b>One</b>\n\ntext"],
    ["raw HTML as text", "<script>x</script> & co", "&lt;script&gt;x&lt;/script&gt; &amp; co"],
    ["code blocks with their language", "```ts\nlet a\n```", '<pre><code class="language-ts">let a</code></pre>'],
    ["links with safe addresses", "[x](https://a.b/?c=1&d)", '<a href="https://a.b/?c=1&amp;d">x</a>'],
    ["links with other schemes as their words", "[x](tg://resolve?domain=y)", "x"],
    ["images as links", "![alt](https://a.b/c.png)", '<a href="https://a.b/c.png">alt</a>'],
    ["line breaks where they were", "a\nb  \nc", "a\nb\nc"],
    ["bullets and nested numbers", "- a\n- b\n  3. c\n  4. d", "• a\n• b\n  3. c\n  4. d"],
    ["quotes, nested ones flattened", "> a\n> > b", "<blockquote>a\n\nb</blockquote>"],
    ["tables as aligned lines", "| k | v |\n|---|---|\n| long | 1 |", "<pre>k    | v\n-----+--\nlong | 1</pre>"],
    ["spoilers, but not an `or`", "||b **c**|| a || b, x||y||z", "<tg-spoiler>b <b>c</b></tg-spoiler> a || b, x||y||z"],
    ["underline where it is written", "<u>a *b*</u> __c__", "<u>a <i>b</i></u> <b>c</b>"],
    ["an open `<u>` as text", "a <u> b", "a &lt;u&gt; b"],
    ["tasks with their boxes", "- [ ] a\n- [x] b\n1. [X] c", "☐ a\n☑ b\n\n1. ☑ c"],
    [
      "links in tables beside their words",
      "|a|\n|-|\n|[x](https://y.z)|",
      "<pre>a\n---------------\nx (https://y.z)</pre>",
    ],
    [
      "an address in a table once, behind all words of its link and not behind itself",
      "|a|\n|-|\n|[x **y**](https://y.z) https://y.z|",
      "<pre>a\n-----------------------------\nx y (https://y.z) https://y.z</pre>",
    ],
    ["mail addresses written out", "[x](mailto:a@b.cd?subject=e) <c@d.ef>", "x (a@b.cd) c@d.ef"],
    ["a rule as a line", "a\n\n---\n\nb", "a\n\n———\n\nb"],
    ["a line of dashes under a paragraph as a rule too", "a\n---\nb", "a\n\n———\n\nb"],
  ]
  for (const [name, markdown, expected] of cases) {
    test(`shows ${name}`, () => assert.deepEqual(html(markdown), [expected]))
  }

  test("folds long quotes", () => {
    const words = "word ".repeat(150).trim()
    assert.deepEqual(html(`> ${words}`), [`<blockquote expandable>${words}</blockquote>`])
  })

  const table = "| k | v | w |\n|---|---|---|\n| **a** | 1 | [x](https://y.z) |\n| b |  | 2 |"
  test("shows tables as bullets where it is told to, with their formatting", () => {
    const [chunk] = chunkPieces(render(table, "bullets"), 4000)
    assert.equal(chunkPieces(render("| k | v |\n|---|---|", "bullets"), 4000)[0]?.html, "• <b>k</b>\n  • v")
    assert.equal(chunk?.html, '• <b>a</b>\n  • v: 1\n  • w: <a href="https://y.z">x</a>\n• <b>b</b>\n  • w: 2')
  })

  test("leaves tables as they are written where it is told to", () => {
    assert.equal(
      chunkPieces(render(table, "off"), 4000)[0]?.plain,
      table.replaceAll("**", "").replace("[x](https://y.z)", "x"),
    )
  })

  test("of a text with thousands of marks formats the beginning, and sends the rest as it stands", () => {
    const paragraph = `**bold** and \`code\`\n\n`
    const pieces = render(paragraph.repeat(3_000))
    assert.deepEqual(
      pieces[0]?.spans.map(({ style }) => style),
      ["bold"],
    )
    const rest = pieces.at(-1)
    assert.deepEqual(rest?.spans, [])
    assert.match(rest?.text ?? "", /^\n\n\*\*bold\*\* and `code`\n\n/)
    assert.ok((rest?.text.length ?? 0) > 20_000 && pieces.length > 1_000)
    // Whatever it means, its words are all there.
    assert.equal(render("[[".repeat(500_000))[0]?.text.length, 1_000_000)
    // Entries of a list and addresses take the parser longer than other marks: fewer of them are a bound.
    for (const [dear, most] of [
      ["1. a\n", 2_700],
      ["http://a.b\n\n", 700],
    ] as const) {
      const left = render(dear.repeat(10_000)).at(-1)?.text ?? ""
      assert.ok(left.split(dear.trim()).length - 1 >= 10_000 - most, dear)
    }
  })

  test("shows what a question to an owner is about to the letter, whatever a page has named", () => {
    const name = 'Click "**Deny** [bank](https://bank.example) ||x|| ~~y~~ <u>z</u> `w` \\* __v__ ```"'
    const shown = html(questionInMarkdown(describeAction(name, { ref: "1" })))[0] ?? ""
    assert.doesNotMatch(shown.slice(0, shown.indexOf("<pre>")), /<(?!\/?a\b)/)
    assert.ok(
      shown.includes("**Deny** [bank](") && shown.includes("||x|| ~~y~~ &lt;u&gt;z&lt;/u&gt; `w` \\* __v__ ```"),
    )
    assert.match(shown, /<pre>{\n {2}"ref": "1"\n}<\/pre>$/)
  })

  test("formats what stands behind a long block of code", () => {
    const pieces = render(`\`\`\`js\n${"a[0] = b * c - {}\n".repeat(2_000)}\`\`\`\n\n**done**`)
    assert.deepEqual(
      pieces.at(-1)?.spans.map(({ style }) => style),
      ["bold"],
    )
  })

  test("sends nothing for a text that shows nothing", () => {
    for (const text of ["", "   \n\n ", "\u200b", "```\n```", "\u00ad\u2060"]) assert.deepEqual(html(text), [])
  })
})

describe("what the platform makes of it", () => {
  test("has the spans that were meant", () => {
    const { entities } = parsedByPlatform(html("||s|| <u>u</u> [l](https://a.b/) `c`\n```ts\nx\n```")[0] ?? "")
    const names = entities.map(({ type }) => [type._.replace("textEntityType", ""), type.url ?? type.language ?? ""])
    assert.deepEqual(names, [
      ["Spoiler", ""],
      ["Underline", ""],
      ["TextUrl", "https://a.b/"],
      ["Code", ""],
      ["PreCode", "ts"],
    ])
  })
})

describe("cutting", () => {
  test("prefers the end of a paragraph, then of a line, then of a word", () => {
    assert.deepEqual(html(`${"a ".repeat(30)}\n\n${"b ".repeat(30)}`, 80), [
      "a ".repeat(30).trim(),
      "b ".repeat(30).trim(),
    ])
    assert.deepEqual(html("aaaa bbbb cccc dddd", 10), ["aaaa bbbb", "cccc dddd"])
  })

  test("closes a code block at the cut and opens it again with its language, indentation kept", () => {
    const lines = Array.from({ length: 6 }, (_, index) => `    line ${index};`)
    const chunks = html(`\`\`\`ts\n${lines.join("\n")}\n\`\`\``, 45)
    assert.equal(chunks.length, 2)
    assert.equal(chunks[1], `<pre><code class="language-ts">${lines.slice(3).join("\n")}</code></pre>`)
  })

  test("keeps what people see as one character whole, wherever the limit falls", () => {
    for (const character of ["👨‍👩‍👧‍👦", "🇩🇪", "👍🏽", "e\u0301", "क्षि", "각", "日"]) {
      for (const limit of [30, 31, 32, 33, 50]) {
        const chunks = checkCut(character.repeat(200), limit)
        for (const text of chunks) assert.equal(text, character.repeat(text.length / character.length))
      }
    }
  })

  test("by paragraphs makes a message of each, and never cuts a code block at its empty lines", () => {
    const code = "```\na\n\nb\n```"
    const chunks = html(`one\n\ntwo\n\nthree three three\n\n${code}\n\nend`, 26, "newline")
    assert.deepEqual(chunks, ["one", "two", "three three three", "<pre>a\n\nb</pre>", "end"])
  })

  test("takes time in line with the length of the text", () => {
    const render1 = (length: number) => {
      const text = "A **bold** word, `code` and [a link](https://a.b).\n\n- item\n".repeat(Math.ceil(length / 59))
      const before = process.cpuUsage()
      chunkPieces(render(text), 4000)
      const { user, system } = process.cpuUsage(before)
      return user + system
    }
    render1(50_000)
    // Ten times the length: far from a hundred times the work, whatever else the machine does.
    assert.ok(render1(500_000) < 40 * Math.max(render1(50_000), 5_000))
  })

  test("does not cut a link that fits into the next message", () => {
    const chunks = html(`${"x".repeat(30)} [one two three four](https://a.b)`, 40)
    assert.deepEqual(chunks, ["x".repeat(30), '<a href="https://a.b">one two three four</a>'])
  })

  test("cuts a link where it must, whatever it is made of, when no message holds it", () => {
    const link = `[**${"b".repeat(20)}**${"c".repeat(29)}](https://a.b)`
    const [first] = chunkPieces(render(`${"a".repeat(30)}${link}`), 40)
    assert.equal(first?.plain.length, 40)
  })

  test("keeps the markup of many long links below the platform's byte limit", () => {
    const link = `[a](https://a.b/${"c".repeat(1500)}) `
    const chunks = chunkPieces(render(link.repeat(60)), 4000)
    assert.ok(chunks.length >= 3)
    for (const chunk of chunks) assert.ok(Buffer.byteLength(chunk.html) <= 30 * 1024)
  })
})
