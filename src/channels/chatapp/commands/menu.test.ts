import assert from "node:assert/strict"
import { test } from "node:test"
import { configSchema } from "../../../config/index.ts"
import { createSettings } from "../settings.ts"
import { menusOf } from "./menu.ts"

const skills = [
  { name: "meal-plan", description: "Plans the meals of a week." },
  { name: "help", description: "Never in a command's place." },
  { name: "shop", description: "Behind the operator's own entry." },
  { name: "long-name-that-the-platform-does-not-take", description: "x" },
]
const menu = (commands: object) => {
  const customCommands = [{ command: "shop", description: "Buys" }]
  const config = configSchema.parse({ commands, channels: { chatapp: { customCommands } } })
  return menusOf(createSettings(() => config).account("default"), skills).default
}

test("skills stand behind the commands in the menu, and take nobody's name", () => {
  assert.deepEqual(menu({}).slice(-2), [
    { command: "shop", description: "Buys" },
    { command: "meal_plan", description: "Plans the meals of a week." },
  ])
  assert.equal(menu({}).filter(({ command }) => command === "help").length, 1)
})

test("skills are left out where they are not wanted, and where no commands are", () => {
  assert.deepEqual(menu({ nativeSkills: "off" }).at(-1)?.command, "shop")
  assert.deepEqual(menu({ native: "off" }), [{ command: "shop", description: "Buys" }])
  const switched = menu({ restart: true }).map(({ command }) => command)
  assert.deepEqual(
    [switched.includes("restart"), switched.includes("debug"), switched.includes("start")],
    [true, false, false],
  )
})
