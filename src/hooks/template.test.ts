import assert from "node:assert/strict"
import { describe, test } from "node:test"
import fc from "fast-check"
import type { Json } from "../kernel/index.ts"
import { assertGrowsInLine } from "../../test/support/growth.ts"
import { type TemplateValues, compilePath, compileTemplate, lookUp, maxRenderedCharacters } from "./template.ts"

const values = (payload: Json): TemplateValues => ({
  payload,
  headers: { "x-event": "push", "user-agent": "sender" },
  query: { list: "a" },
  path: "github",
  now: "2026-01-02T03:04:05.000Z",
})
const render = (text: string, payload: Json = {}) => compileTemplate(text).render(values(payload))

describe("a template", () => {
  test("puts in values of payload, headers, query, path and time", () => {
    const payload = { x: [{ y: "deep" }], n: 5, yes: true, path: "mine", "odd key": "quoted" }
    assert.equal(render("{{payload.x[0].y}} {{ x[0].y }} {{n}} {{yes}}", payload), "deep deep 5 true")
    assert.equal(
      render("{{headers.x-event}} {{query.list}} {{path}} {{now}}"),
      "push a github 2026-01-02T03:04:05.000Z",
    )
    assert.equal(render('{{payload.path}} {{payload["odd key"]}}', payload), "mine quoted")
  })

  test("reads item from the payload where no list gives an element", () => {
    const payload = { item: { title: "Tea" } }
    assert.equal(render("{{item.title}} {{a | default(item.title)}}", payload), "Tea Tea")
    assert.equal(compileTemplate("{{item.title}}").render({ ...values(payload), item: { title: "Cup" } }), "Cup")
    assert.equal(compileTemplate("[{{item.title}}]").render({ ...values(payload), item: null }), "[]")
  })

  test("leaves missing and null values empty and writes structures as JSON", () => {
    assert.equal(render("[{{a}}{{b.c.d}}{{x[3]}}{{n}}]", { n: null, x: [1] }), "[]")
    assert.equal(render("{{o}} {{l}}", { o: { a: 1 }, l: [1, "2"] }), '{"a":1} [1,"2"]')
    assert.equal(render("{{l.length}}{{s[0]}}{{s.length}}{{o[0]}}", { l: [1], s: "text", o: {} }), "")
  })

  test("has filters: default, json, truncate, before, hash, each", () => {
    assert.equal(render('{{a | default("none")}} {{a|default(b.c)}}', { a: "", b: { c: "other" } }), "none other")
    assert.equal(render("{{s | json}} {{missing | json}}", { s: 'a"b' }), '"a\\"b" null')
    assert.equal(render("{{s | truncate(3)}} {{s | truncate(9)}}", { s: "abcdef" }), "abc… abcdef")
    assert.equal(render("{{s | truncate(1)}}", { s: "😀😀" }), "…")
    assert.equal(render('a{{s | before(", by ")}}{{t | before(", by ")}}', { s: "Ann" }), "a, by Ann")
    assert.equal(render("{{s | hash}}", { s: "abc" }), "ba7816bf8f01cfea")
    const list = { l: [{ n: 1, t: { u: "x" } }, { n: 2 }, { n: 3 }] }
    assert.equal(render('{{l | each("- {n} {t.u}", 2)}}', list), "- 1 x\n- 2 \n(and 1 more)")
  })

  test("reads own properties only", () => {
    const hostile = JSON.parse('{"__proto__": {"polluted": "yes"}, "a": {}}') as Json
    for (const path of [
      "__proto__.polluted",
      "constructor.name",
      "constructor.constructor",
      "a.toString",
      "a.__proto__.x",
    ]) {
      assert.equal(render(`[{{${path}}}{{payload.${path}}}]`, hostile), "[]", path)
    }
    assert.equal(({} as Record<string, unknown>)["polluted"], undefined)
    assert.equal(render("{{constructor}}", { constructor: "own" }), "own")
  })

  test("is refused with the place of its fault", () => {
    for (const text of [
      "{{",
      "{{a",
      "{{}}",
      "{{a b}}",
      "{{a.}}",
      "{{a[}}",
      "{{a|nothing}}",
      '{{a|default("x}}',
      "{{a|truncate(0)}}",
    ]) {
      assert.throws(() => compileTemplate(text), { code: "config-invalid" }, text)
    }
    assert.throws(() => compilePath("a | json"), { code: "config-invalid" })
  })

  test("never renders its own result again", () => {
    assert.equal(render("{{a}}", { a: "{{b}}", b: "secret" }), "{{b}}")
  })

  test("keeps the operator's words apart from the values", () => {
    const pieces = (text: string, payload: Json = {}) =>
      compileTemplate(text)
        .segments(values(payload))
        .map(({ kind, text: words }) => (kind === "value" ? { value: words } : words))
    assert.deepEqual(pieces("a {{x}}{{y}} b", { x: 1, y: { z: 2 } }), [
      "a ",
      { value: "1" },
      { value: '{"z":2}' },
      " b",
    ])
    assert.deepEqual(pieces('{{a | default("none")}} {{a | default(b)}}', { b: "B" }), ["none ", { value: "B" }])
    assert.deepEqual(pieces('by{{s | before(", ")}}{{t | before(", ")}}', { s: "Ann" }), ["by, ", { value: "Ann" }])
    assert.deepEqual(pieces('{{s | before("from ") | truncate(7)}}', { s: "Ann" }), ["from ", { value: "An…" }])
    assert.deepEqual(pieces('{{s | before("from ") | json}}', { s: "Ann" }), [{ value: '"from Ann"' }])
    assert.deepEqual(pieces('{{l | each("- {n}")}}', { l: [{ n: 1 }, { n: 2 }] }), [{ value: "- 1\n- 2" }])
    assert.deepEqual(pieces("{{s | hash}}{{now}}", { s: "abc" }), [
      { value: "ba7816bf8f01cfea" },
      { value: "2026-01-02T03:04:05.000Z" },
    ])
  })

  test("is cut at a bounded length", () => {
    const text = render("{{a}}".repeat(5_000), { a: "x".repeat(100_000) })
    assert.equal(text.length, maxRenderedCharacters + 1)
  })
})

describe("for any input", () => {
  const text = fc.string({
    unit: fc.constantFrom("{{", "}}", "{", "|", "a", ".", "[", "0", "]", '"', "(", ")", " ", "json", "\\"),
  })

  test("compiling ends with a template or config-invalid, and rendering never throws", () => {
    fc.assert(
      fc.property(text, fc.jsonValue(), (source, payload) => {
        let template
        try {
          template = compileTemplate(source)
        } catch (error) {
          return (error as { code?: string }).code === "config-invalid"
        }
        return template.render(values(payload as Json)).length <= maxRenderedCharacters + 1
      }),
      { numRuns: 2_000 },
    )
  })

  test("text without expressions stays as it is, and a string value is verbatim", () => {
    fc.assert(
      fc.property(
        fc.string().filter((plain) => !plain.includes("{{")),
        (plain) => render(plain) === plain,
      ),
    )
    fc.assert(fc.property(fc.string({ maxLength: 500 }), (value) => render("{{v}}", { v: value }) === value))
  })

  test("the operator's words are those of the template, once and in order, and all else is a value", () => {
    const source =
      'One {{a}} two {{b | default("three")}} {{c | before(" four ") | truncate(900)}}{{l | each("- {x}")}} five'
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.string(),
        fc.string({ minLength: 1 }),
        fc.array(fc.jsonValue()),
        (a, b, c, list) => {
          const payload = { a, b, c, l: list.map((x) => ({ x })) } as Json
          const segments = compileTemplate(source).segments(values(payload))
          const said = segments.filter(({ kind }) => kind === "operator").map(({ text: words }) => words)
          assert.equal(said.join(""), b === "" ? "One  two three  four  five" : "One  two   four  five")
          assert.equal(segments.map(({ text: words }) => words).join(""), render(source, payload))
        },
      ),
    )
  })

  test("a looked up value is one that is there as an own property", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (payload, name) => {
        const found = lookUp(values(payload as Json), ["payload", name])
        return found === undefined || Object.hasOwn(payload, name)
      }),
    )
  })
})

test("the cost of templates grows with their length", async () => {
  await assertGrowsInLine(
    (count) => {
      assert.throws(() => compileTemplate('{{a | default("x")}} {{ '.repeat(count)))
      compileTemplate("{{a.b[0] | json}} ".repeat(count))
    },
    { size: 2_000 },
  )
})
