import assert from "node:assert/strict"
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, test } from "node:test"
import pino from "pino"
import { silentLog } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { call, scriptedModels, startAgent } from "./agent.fixture.ts"
import { createSkillsReader, selectSkills } from "./skills.ts"

function addSkill(workspace: string, name: string, text: string): void {
  mkdirSync(join(workspace, "skills", name), { recursive: true })
  writeFileSync(join(workspace, "skills", name, "SKILL.md"), text)
}

describe("skills", () => {
  const readSkills = createSkillsReader(silentLog)

  test("that cannot be used are told to the log once, and again when that changes", () => {
    const workspace = temporaryFolder()
    const lines: string[] = []
    const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line).reason) })
    const read = createSkillsReader(log)
    addSkill(workspace, "empty", "")
    addSkill(workspace, "good", "Do it well.")
    // No skills of anybody: what tools keep beside them.
    mkdirSync(join(workspace, "skills", ".git"))
    writeFileSync(join(workspace, "skills", "README.md"), "About these skills.")
    for (let turns = 0; turns < 3; turns += 1) assert.equal(read(workspace).length, 1)
    assert.deepEqual(lines, ["SKILL.md is empty"])
    addSkill(workspace, "empty", "---\nno end")
    read(workspace)
    addSkill(workspace, "empty", "Now there is something.")
    assert.equal(read(workspace).length, 2)
    addSkill(workspace, "empty", "")
    read(workspace)
    assert.deepEqual(lines.slice(1), [
      "its header begins with --- and has no line --- that ends it",
      "SKILL.md is empty",
    ])
  })

  test("are read from their folders, with a header or without, and what is unusable is left out", () => {
    const workspace = temporaryFolder()
    assert.deepEqual(readSkills(workspace), [])
    addSkill(
      workspace,
      "orders",
      '---\r\nname: orders\r\ndescription: "How to look up an order: by number"\r\n---\r\nAsk first.\r\n',
    )
    addSkill(workspace, "cooking", "# Cooking for many\n\nUse a large pot.")
    addSkill(workspace, "folded", "---\ndescription: >-\n  How to fold\n\n  a long line\nlicense: MIT\n---\nFold.")
    addSkill(workspace, "unended", "---\ndescription: no end\n\nText")
    addSkill(workspace, "empty", "---\ndescription: nothing\n---\n")
    addSkill(workspace, "Bad Name", "text")
    addSkill(workspace, "huge", "x".repeat(70_000))
    mkdirSync(join(workspace, "skills", "no-file"))
    assert.deepEqual(readSkills(workspace), [
      { name: "cooking", description: "Cooking for many", text: "# Cooking for many\n\nUse a large pot." },
      { name: "folded", description: "How to fold a long line", text: "Fold." },
      { name: "orders", description: "How to look up an order: by number", text: "Ask first." },
    ])
  })

  test("say when they are of use as their header has it, in one line that is short", () => {
    const workspace = temporaryFolder()
    const headers: [header: string, description: string][] = [
      ["---\ndescription: 'How to cook'\n---\n", "How to cook"],
      ["---\ndescription: |-\n  How to cook\n  for many\nlicense: MIT\n---\n", "How to cook for many"],
      ["---\ndescription: How to cook\n\tfor many\n---\n", "How to cook for many"],
      ["---\nname: cook\n---\n", "Text of it"],
      ["---\ndescription:\nname: cook\n---\n", "Text of it"],
      ["\ufeff---\ndescription: How to cook\n---\n", "How to cook"],
      [`---\ndescription: ${"x".repeat(400)}\n---\n`, "x".repeat(300)],
      [`### ${"y".repeat(400)}\n`, "y".repeat(300)],
    ]
    for (const [header, description] of headers) {
      addSkill(workspace, "cook", `${header}Text of it`)
      const [skill] = readSkills(workspace)
      assert.deepEqual([skill?.description, skill?.text.endsWith("Text of it")], [description, true], header)
    }
    addSkill(workspace, "cook", "---\ndescription: How to cook\n---\nText\n\n---\n\nMore")
    assert.equal(readSkills(workspace)[0]?.text, "Text\n\n---\n\nMore")
  })

  test("beyond a hundred are not read, and the log is told", () => {
    const workspace = temporaryFolder()
    const lines: object[] = []
    const log = pino({ base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) })
    const read = createSkillsReader(log)
    const nameOf = (n: number) => `s${String(n).padStart(3, "0")}`
    for (let n = 100; n > 0; n -= 1) addSkill(workspace, nameOf(n), "Do it.")
    assert.equal(read(workspace).length, 100)
    assert.deepEqual(lines, [])
    addSkill(workspace, nameOf(101), "Do it.")
    assert.deepEqual(
      read(workspace).map(({ name }) => name),
      Array.from({ length: 100 }, (_, n) => nameOf(n + 1)),
    )
    assert.equal(lines.length, 1)
    assert.partialDeepStrictEqual(lines[0], { msg: "too many skills", skills: 101, read: 100 })
  })

  test("are left out where their file cannot be opened, and none are there where the folder is none", () => {
    const workspace = temporaryFolder()
    writeFileSync(join(workspace, "skills"), "")
    assert.deepEqual(readSkills(workspace), [])
    rmSync(join(workspace, "skills"))
    addSkill(workspace, "own", "from inside")
    mkdirSync(join(workspace, "skills", "circle"))
    symlinkSync("SKILL.md", join(workspace, "skills", "circle", "SKILL.md"))
    assert.deepEqual(
      readSkills(workspace).map((skill) => skill.name),
      ["own"],
    )
  })

  test("are not read where a link leads out of the workspace", () => {
    const workspace = temporaryFolder()
    const outside = temporaryFolder()
    writeFileSync(join(outside, "SKILL.md"), "from outside")
    addSkill(workspace, "own", "from inside")
    mkdirSync(join(workspace, "skills", "file"))
    symlinkSync(join(outside, "SKILL.md"), join(workspace, "skills", "file", "SKILL.md"))
    symlinkSync(outside, join(workspace, "skills", "folder"))
    assert.deepEqual(
      readSkills(workspace).map((skill) => skill.name),
      ["own"],
    )
  })

  test("are all there unless a place names some or none", () => {
    const skills = ["a", "b"].map((name) => ({ name, description: "", text: name }))
    const names = (only?: string[]) => selectSkills(skills, only).map((skill) => skill.name)
    assert.deepEqual([names(), names(["b", "c"]), names([])], [["a", "b"], ["b"], []])
  })

  test("are named to the model, which reads one when it needs it", async (context) => {
    const workspace = temporaryFolder()
    addSkill(workspace, "cooking", "# Cooking for many\n\nUse a large pot.")
    addSkill(workspace, "secret", "Not for groups.")
    const models = scriptedModels([
      [call("skill", { name: "cooking" }, "one"), call("skill", { name: "secret" }, "two")],
      "With a large pot.",
      "I know nothing.",
    ])
    const agent = await startAgent(context, { models, workspace })
    await agent.say("How do I cook for thirty?", { skills: ["cooking"] })
    const [first, second] = models.requests
    assert.match(first?.system ?? "", /Skills, .*:\n- cooking: Cooking for many$/)
    const results = second?.messages.at(-1)
    assert.ok(results?.role === "tool")
    assert.match(JSON.stringify(results.results[0]), /Use a large pot/)
    assert.match(JSON.stringify(results.results[1]), /There is no skill .*secret.*There are: cooking/)
    assert.doesNotMatch(JSON.stringify(results), /Not for groups/)
    await agent.say("And now?", { skills: [] })
    assert.doesNotMatch(models.requests[2]?.system ?? "", /[Ss]kill/)
    assert.deepEqual(models.requests[2]?.tools, [])
  })

  test("are not there where the tool that reads them is not", async (context) => {
    const workspace = temporaryFolder()
    addSkill(workspace, "cooking", "# Cooking for many\n\nUse a large pot.")
    const models = scriptedModels(["a", "b"])
    const agent = await startAgent(context, { models, workspace })
    await agent.say("one", { tools: { deny: ["*"] } })
    await agent.say("two", { tools: { allow: ["skill"] } })
    assert.deepEqual(
      models.requests.map(({ tools, system }) => [tools.length, /[Ss]kill/.test(system)]),
      [
        [0, false],
        [1, true],
      ],
    )
  })
})
