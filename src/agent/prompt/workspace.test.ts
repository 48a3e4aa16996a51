import assert from "node:assert/strict"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { silentLog } from "../../../test/support/store.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { systemPrompt } from "./system.ts"
import { readWorkspaceFiles } from "./workspace.ts"

test("files of the workspace stand in the prompt within their limits, and what is the owner's own only in private", () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, "AGENTS.md"), `Be short. ${"a".repeat(200)}`)
  writeFileSync(join(folder, "SOUL.md"), "  \n")
  writeFileSync(join(folder, "USER.md"), "Lives in Oslo.")
  writeFileSync(join(folder, "MEMORY.md"), "Likes tea.")
  mkdirSync(join(folder, "elsewhere"))
  writeFileSync(join(folder, "elsewhere", "secret"), "SECRET")
  symlinkSync("/etc/hostname", join(folder, "TOOLS.md"))
  const read = (isPrivate: boolean, maxChars = 100, totalChars = 120) =>
    readWorkspaceFiles(folder, { isPrivate, limits: { maxChars, totalChars, memoryChars: 6 }, log: silentLog })
  assert.deepEqual(
    read(false).map(({ name, text, isCut }) => [name, text.length, isCut]),
    [["AGENTS.md", 100, true]],
  )
  const files = read(true)
  assert.deepEqual(
    files.map(({ name, text }) => [name, text.slice(0, 10)]),
    [
      ["AGENTS.md", "Be short. "],
      ["USER.md", "Lives in O"],
      ["MEMORY.md", "Likes "],
    ],
  )
  const prompt = systemPrompt({ agentName: "Ann", purpose: "chat", tools: [], workspace: files })
  assert.match(
    prompt,
    /operator has written down[^]*## AGENTS\.md\nBe short\.[^]*no room here[^]*## USER\.md\nLives in Oslo\.[^]*noted yourself[^]*## MEMORY\.md\nLikes \n\(memory_search/,
  )
  assert.deepEqual(
    read(true, 0)
      .map(({ text }) => text)
      .join(""),
    "",
  )
})
