import assert from "node:assert/strict"
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { silentLog } from "../../../test/support/store.ts"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { systemPrompt } from "./system.ts"
import { type WorkspaceLimits, readWorkspaceFiles } from "./workspace.ts"

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
})

test("a limit of 0 leaves files out without a word, and what has room stands there as it is", () => {
  const folder = temporaryFolder()
  for (const name of ["AGENTS", "SOUL", "TOOLS", "USER", "MEMORY"])
    writeFileSync(join(folder, `${name}.md`), `${name} of the owner`)
  const prompt = (limits: Partial<WorkspaceLimits>, isPrivate = true) => {
    const all = { maxChars: 100, totalChars: 1_000, memoryChars: 50, ...limits }
    const workspace = readWorkspaceFiles(folder, { isPrivate, limits: all, log: silentLog })
    return systemPrompt({ agentName: "Ann", purpose: "chat", tools: [], workspace })
  }
  const nothing = systemPrompt({ agentName: "Ann", purpose: "chat", tools: [] })
  const written = "\nWhat your operator has written down for you:\n## AGENTS.md\nAGENTS of the owner"
  const place = `${written}\n## SOUL.md\nSOUL of the owner\n## TOOLS.md\nTOOLS of the owner`
  const own = `${place}\n## USER.md\nUSER of the owner`
  const noted = "\nWhat you have noted yourself, to know it now:\n## MEMORY.md\n"
  assert.equal(prompt({}, false), nothing + place, "what is not private stands in groups too")
  assert.equal(prompt({}), `${nothing}${own}${noted}MEMORY of the owner`)
  assert.equal(prompt({ memoryChars: 6 }), `${nothing}${own}${noted}MEMORY\n(memory_search finds the rest.)`)
  assert.equal(prompt({ memoryChars: 0 }), nothing + own)
  assert.equal(prompt({ totalChars: 0 }), nothing)
  assert.equal(prompt({ maxChars: 0 }), nothing)
  rmSync(join(folder, "MEMORY.md"))
  for (const name of ["AGENTS", "SOUL", "TOOLS", "USER"]) rmSync(join(folder, `${name}.md`))
  writeFileSync(join(folder, "MEMORY.md"), "tea")
  assert.equal(prompt({}), `${nothing}${noted}tea`)
})
