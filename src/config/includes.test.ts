import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, describe, it } from "node:test"
import { loadConfigFile } from "./load.ts"

let base: string
let path: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "svc-include-"))
  path = join(base, "conf", "svc.json")
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function put(name: string, text: string): void {
  const file = join(base, "conf", name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function load() {
  const result = loadConfigFile({ path, env: {} })
  return result.kind === "ok" ? result.snapshot : assert.fail(JSON.stringify(result.issues))
}

function firstIssue() {
  const result = loadConfigFile({ path, env: {} })
  return result.kind === "invalid" ? result.issues[0] : assert.fail("the files should be refused")
}

describe("$include", () => {
  it("merges objects deeply: later files win, and the keys beside it win over all", () => {
    put("svc.json", "{$include: ['a.json', 'sub/b.json'], gateway: {port: 3}}")
    put(
      "a.json",
      "{gateway: {port: 1, bind: 'lan'}, messages: {responsePrefix: 'a', groupChat: {mentionPatterns: ['x', 'y']}}}",
    )
    put("sub/b.json", "{gateway: {port: 2}, messages: {responsePrefix: 'b', groupChat: {mentionPatterns: ['z']}}}")
    const { config, files } = load()
    assert.equal(config.gateway.port, 3)
    assert.equal(config.gateway.bind, "lan")
    assert.equal(config.messages.responsePrefix, "b")
    assert.deepEqual(config.messages.groupChat.mentionPatterns, ["z"])
    assert.equal(files.length, 3)
  })

  it("works in any section, relative to the file it stands in", () => {
    put("svc.json", "{channels: {$include: './sub/channels.json'}}")
    put("sub/channels.json", "{chatapp: {$include: 'chatapp.json', linkPreview: false}}")
    put("sub/chatapp.json", "{dmPolicy: 'disabled', linkPreview: true}")
    const { chatapp } = load().config.channels
    assert.equal(chatapp.dmPolicy, "disabled")
    assert.equal(chatapp.linkPreview, false)
  })

  it("names file and line of an error in an included file", () => {
    put("svc.json", "{$include: 'a.json'}")
    put("a.json", "{\n  gateway: {\n    port: 0 }}")
    const issue = firstIssue()
    assert.equal(issue?.file, join(base, "conf", "a.json"))
    assert.deepEqual([issue?.line, issue?.path], [3, "gateway.port"])
  })

  it("refuses a circle and names it", () => {
    put("svc.json", "{$include: 'a.json'}")
    put("a.json", "{$include: 'svc.json'}")
    assert.match(firstIssue()?.message ?? "", /includes itself: .*svc\.json -> .*a\.json -> .*svc\.json/)
  })

  it("refuses a chain that is too deep", () => {
    put("svc.json", "{$include: 'f0.json'}")
    for (let index = 0; index < 12; index += 1) put(`f${index}.json`, `{$include: 'f${index + 1}.json'}`)
    put("f12.json", "{}")
    assert.match(firstIssue()?.message ?? "", /more than 10 deep/)
  })

  it("refuses a missing file, a wrong type and broken text", () => {
    put("svc.json", "{\n$include: 'none.json'}")
    assert.match(firstIssue()?.message ?? "", /does not exist/)
    assert.equal(firstIssue()?.line, 2)
    put("svc.json", "{$include: 5}")
    assert.match(firstIssue()?.message ?? "", /must be a file name/)
    put("svc.json", "{$include: 'a.json'}")
    put("a.json", "{gateway:")
    assert.match(firstIssue()?.message ?? "", /not valid JSON5/)
  })

  it("stays below the folder of the configuration, links followed, unless the path is absolute", () => {
    const outside = join(base, "outside.json")
    writeFileSync(outside, "{gateway: {port: 9}}")
    put("svc.json", "{$include: '../outside.json'}")
    assert.match(firstIssue()?.message ?? "", /outside the folder/)
    symlinkSync(outside, join(base, "conf", "link.json"))
    put("svc.json", "{$include: 'link.json'}")
    assert.match(firstIssue()?.message ?? "", /outside the folder/)
    put("svc.json", `{$include: ${JSON.stringify(outside)}}`)
    assert.equal(load().config.gateway.port, 9)
  })
})
