// Parts of the engine that need no browser: refs, keys, addresses, and the schema that models see.
import assert from "node:assert/strict"
import { test } from "node:test"
import { createBrowserTool } from "../tool.ts"
import { parseKey } from "./actions/keyboard.ts"
import { parseRef } from "./refs.ts"
import { isMetadataHost } from "./policy/addresses.ts"
import { createUrlPolicy } from "./policy/url-policy.ts"

test("reads a ref in every way it is written", () => {
  for (const text of ["12", "e12", "@12", "@e12", "ref=12", "ref=e12", "aria-ref=12", " E12 "])
    assert.equal(parseRef(text), 12, text)
  for (const text of ["", "x", "-1", "1.5", "12 13", "#a", "e", "1234567890"])
    assert.throws(() => parseRef(text), { code: "bad-request" })
})

test("reads keys by name with what is held", () => {
  assert.deepEqual(parseKey("Enter", "linux"), {
    key: "Enter",
    code: "Enter",
    keyCode: 13,
    text: "\r",
    modifiers: 0,
    commands: [],
  })
  assert.deepEqual(parseKey("Control+A", "linux"), { key: "a", code: "KeyA", keyCode: 65, modifiers: 2, commands: [] })
  assert.equal(parseKey("Control+Shift+z", "linux").key, "Z")
  assert.deepEqual(parseKey("ControlOrMeta+a", "darwin"), {
    key: "a",
    code: "KeyA",
    keyCode: 65,
    modifiers: 4,
    commands: ["selectAll"],
  })
  assert.equal(parseKey("Shift+a", "linux").text, "A")
  assert.equal(parseKey("+", "linux").text, "+")
  assert.deepEqual([parseKey("Control++", "linux").key, parseKey("Control++", "linux").modifiers], ["+", 2])
  assert.equal(parseKey("é", "linux").text, "é")
  assert.equal(parseKey("F11", "linux").keyCode, 122)
  for (const text of ["Nope", "Hyper+a", "Control+", "constructor"])
    assert.throws(() => parseKey(text, "linux"), { code: "bad-request" })
})

test("reads keys by other names that people give them, and with the codes of a keyboard", () => {
  for (const [text, key, code, keyCode] of [
    ["esc", "Escape", "Escape", 27],
    ["RETURN", "Enter", "Enter", 13],
    ["Del", "Delete", "Delete", 46],
    ["left", "ArrowLeft", "ArrowLeft", 37],
    ["Right", "ArrowRight", "ArrowRight", 39],
    ["up", "ArrowUp", "ArrowUp", 38],
    ["down", "ArrowDown", "ArrowDown", 40],
    ["pagedown", "PageDown", "PageDown", 34],
    ["Insert", "Insert", "Insert", 45],
    ["F1", "F1", "F1", 112],
    ["F12", "F12", "F12", 123],
    ["Space", " ", "Space", 32],
    [" ", " ", "Space", 32],
    ["\n", "Enter", "Enter", 13],
    ["\t", "Tab", "Tab", 9],
    ["7", "7", "Digit7", 55],
    ["Q", "Q", "KeyQ", 81],
    ["-", "-", "Minus", 189],
    ["/", "/", "Slash", 191],
    ["\\", "\\", "Backslash", 220],
    ["`", "`", "Backquote", 192],
    ["é", "é", "", 0],
  ] as const) {
    const { key: name, ...read } = parseKey(text, "linux")
    assert.deepEqual([name, read.code, read.keyCode], [key, code, keyCode], text)
  }
  for (const [text, modifiers] of [
    ["ctrl+x", 2],
    ["Cmd+x", 4],
    ["command+x", 4],
    ["Option+x", 1],
    ["alt+Shift+x", 9],
    ["ControlOrMeta+x", 2],
    ["Shift+Tab", 8],
  ] as const) {
    const { modifiers: bits, text: given } = parseKey(text, "linux")
    assert.deepEqual([bits, given], [modifiers, undefined], text)
  }
  assert.deepEqual([parseKey("Shift+é", "linux").text, parseKey("Shift+Enter", "linux").text], ["é", "\r"])
  assert.deepEqual([parseKey("Alt+Shift+q", "linux").key, parseKey("Alt+Q", "linux").key], ["Q", "q"])
  for (const [text, commands] of [
    ["Meta+c", ["copy"]],
    ["Control+V", ["paste"]],
    ["Meta+b", []],
    ["Alt+c", []],
    ["c", []],
  ] as const)
    assert.deepEqual(parseKey(text, "darwin").commands, commands, text)
  for (const text of ["F13", "Shift+Nope", "", "ab"]) {
    assert.throws(() => parseKey(text, "linux"), { message: `'${text}' is not a key`, hint: /Shift\+Tab/ })
  }
})

test("knows the metadata services in every spelling that a URL leaves of them", () => {
  const hosts = [
    "169.254.169.254",
    "169.254.170.2",
    "metadata.google.internal",
    "METADATA.google.internal.",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a9fe:a9fe]",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "100.100.100.200",
  ]
  for (const host of hosts) assert.ok(isMetadataHost(host), host)
  for (const host of ["127.0.0.1", "example.com", "[::1]", "10.0.0.1", "metadata.example.com"])
    assert.ok(!isMetadataHost(host), host)
  const openPolicy = createUrlPolicy({ policy: "open", allow: [], deny: [] }, () => assert.fail("looked up"))
  assert.equal(openPolicy.checkOpen(" http://example.com "), "http://example.com/")
  assert.throws(() => openPolicy.checkRead("file:///etc/passwd"), { code: "navigation-refused" })
})

test("shows models a schema that costs them less than 1,600 tokens", () => {
  const tool = createBrowserTool({ core: () => assert.fail("not called") })
  const shown = JSON.stringify({ name: tool.name, description: tool.description, inputSchema: tool.inputSchema })
  assert.ok(shown.length / 4 < 1_600, `${shown.length} characters`)
  assert.ok(Object.keys(tool.inputSchema?.["properties"] ?? {}).length > 15)
  assert.equal(tool.repeatable({ action: "snapshot" }), true)
  assert.equal(tool.repeatable({ action: "act" }), false)
  assert.equal(tool.input.safeParse({ action: "dance" }).success, false)
})
