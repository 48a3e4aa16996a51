import assert from "node:assert/strict"
import { test } from "node:test"
import { configSchema } from "../../config/index.ts"

const commandsOf = (customCommands: unknown) =>
  configSchema.parse({ channels: { chatapp: { customCommands } } }).channels.chatapp.customCommands

test("what is wrong with an entry of the menu is told, and the others are used", () => {
  const right = { command: "/Backup", description: " Makes one " }
  assert.deepEqual(
    commandsOf([
      right,
      "backup",
      { command: "restore" },
      { command: "x", description: "y", extra: 1, more: 2 },
      { command: 5, description: "y" },
    ]),
    [
      { command: "backup", description: "Makes one" },
      { command: "backup", description: "", problem: "it must be `{command, description}`" },
      { command: "restore", description: "", problem: "its description must be a text" },
      { command: "x", description: "", problem: "it has a key that there is not: extra, more" },
      { command: "", description: "", problem: "its command must be a text" },
    ],
  )
  assert.deepEqual(commandsOf("backup"), [
    { command: "", description: "", problem: "it must be a list of `{command, description}`" },
  ])
})

test("a path of a webhook begins with one slash and ends without", () => {
  for (const webhookPath of ["in", "/in", "//in//", " in/ "])
    assert.equal(configSchema.parse({ channels: { chatapp: { webhookPath } } }).channels.chatapp.webhookPath, "/in")
})
