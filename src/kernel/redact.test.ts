import assert from "node:assert/strict"
import { test } from "node:test"
import fc from "fast-check"
import { assertGrowsInLine } from "../../test/support/growth.ts"
import { createRedactor } from "./redact.ts"

const secrets = ["hunter2-and-more", "hunter2-and-more-still", "s3cret/with?signs", 'quoted"and\\slashed', "aaaaaa"]
const redactor = createRedactor()
for (const secret of secrets) redactor.add(secret)
const redact = (text: string) => redactor.redact(text)

test("hides what was registered: by itself, in an address, in JSON, and where two overlap", () => {
  for (const secret of secrets) {
    for (const text of [secret, encodeURIComponent(secret), JSON.stringify({ secret }).slice(11, -2)]) {
      assert.equal(redact(`before ${text} after`), "before *** after")
    }
  }
  assert.equal(redact("xhunter2-and-more-stillx"), "x***x")
  assert.equal(redact("aaaaaaaaaa"), "***")
  assert.equal(redact("hunter2-and-mor"), "hunter2-and-mor")
})

test("leaves values that are too short to be secrets", () => {
  const plain = createRedactor()
  plain.add("short")
  assert.equal(plain.redact("a short text"), "a short text")
})

const recognised: Record<string, string> = {
  "bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/getMe": "bot***/getMe",
  "123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw": "***",
  "file/123456789:-AHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/photo": "file/***/photo",
  "too short 12345:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw": "too short 12345:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
  "authorization: Bearer abc.def-123": "authorization: Bearer ***",
  "Bearer abc.def-123": "Bearer ***",
  "basic dXNlcjpwYXNz": "basic ***",
  "AUTHORIZATION: basic dXNlcjpwYXNz=": "AUTHORIZATION: basic ***",
  "https://user:p@ss@host/x": "https://***@host/x",
  "socks5://name@host:1080": "socks5://***@host:1080",
  "https://host/path?mail=a@b": "https://host/path?mail=a@b",
  [`key sk-ant-${"x".repeat(20)} and sk-${"y".repeat(20)}`]: "key sk-ant-*** and sk-***",
  "/hooks/x?api_key=one&page=2&sig=three": "/hooks/x?api_key=***&page=2&sig=***",
  "?X-Amz-Signature=abc&X-Amz-Date=1": "?X-Amz-Signature=***&X-Amz-Date=1",
  "a?key=v#part, b?access_token=v;c=d, ?clientSecret=v w":
    "a?key=***#part, b?access_token=***;c=d, ?clientSecret=*** w",
  "?monkey=1&design=2&keys=3": "?monkey=1&design=2&keys=3",
  "?token=&x=1": "?token=&x=1",
  [`token svct_abcde01234_${"A".repeat(42)}-!`]: "token svct_abcde01234_***!",
  [`short svct_abcde01234_${"A".repeat(42)}`]: `short svct_abcde01234_${"A".repeat(42)}`,
  [`xsvct_abcde01234_${"A".repeat(43)}`]: `xsvct_abcde01234_${"A".repeat(43)}`,
}
for (const [text, expected] of Object.entries(recognised)) {
  test(`makes ${JSON.stringify(text)} safe to show`, () => assert.equal(redact(text), expected))
}

test("text that is JSON stays JSON, whatever secrets end beside its quotation marks", () => {
  const pieces = [
    "?token=abc",
    "Bearer abcdefgh",
    "https://u:p",
    "@",
    '"',
    "\\",
    "\n",
    `sk-${"z".repeat(16)}`,
    ...secrets,
  ]
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string())), (parts) => {
      const line = redact(JSON.stringify({ text: parts.join(""), n: 1 }))
      assert.equal((JSON.parse(line) as { n: number }).n, 1)
    }),
    { numRuns: 1_000 },
  )
})

test("a form that begins where a registered secret ends is found once that is gone", () => {
  assert.equal(redact("hunter2-and-moresk-abcdefghijklmnopqrst"), "***sk-***")
  assert.equal(redact("hunter2-and-moreBearer abcdefghijkl"), "***Bearer ***")
})

test("nothing of a form that is recognised is left, whatever stands round it", () => {
  const forms = [
    /(?<!\d)\d{6,}:[\w-]{30,}/,
    /\b(Bearer|Basic)\s{1,8}[\w.~+/=-]{6,}/i,
    /:\/\/[^\s/?#"'<>\\§]+@/,
    /\bsk-(?:ant-)?[\w-]{16,}/,
    /\bsvct_[a-z0-9]{10}_[\w-]{43}/,
    /[?&;](?:api_key|token)=[^&#; \t\r\n"'<>\\§]/,
  ]
  const pieces = [
    "bearer",
    "Basic",
    " ",
    "\u00a0",
    "://",
    "@",
    "sk-",
    "ant-",
    "svct_",
    "_",
    "0123456789",
    "123456:",
    "?",
  ]
  pieces.push("&api_key=", ";token=", "=", "abcdefghijklmnopqrst", "A".repeat(43), "/", "hunter2-and-more", "é", '"')
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
      const shown = redact(parts.join("")).replaceAll("***", "§")
      for (const form of forms) assert.doesNotMatch(shown, form)
      for (const secret of secrets) assert.ok(!shown.includes(secret))
    }),
    { numRuns: 500 },
  )
})

test("takes time in proportion to the text, whatever its shape", async () => {
  const shapes = [
    "a",
    "a.",
    "a-",
    "a://",
    "://a",
    "://a@",
    "&a=b",
    "&key=a",
    "?key=",
    "=",
    "&",
    "sk-",
    "Bearer ",
    "Bearer",
    " ",
  ]
  shapes.push("1", "123456:", "123456:aaa", "hunter2-and-more", "hunter2-and-", "aaaaa", "-and-more", "@", "a+a.")
  for (const shape of shapes) {
    for (const start of ["", "://", "?key=", "Bearer ", "123456:", "sk-"]) {
      await assertGrowsInLine((size) => redact(start + shape.repeat(size / shape.length)), {
        size: 20_000,
        what: JSON.stringify([start, shape]),
      })
    }
  }
})
