import assert from "node:assert/strict"
import { test } from "node:test"
import { formatLogLine } from "./log-format.ts"

const time = "2026-01-02T03:04:05.678Z"

test("a line for people has the time, the level, who says it, what happened, then the rest", () => {
  const record = { level: 40, time, part: "chat", msg: "poll failed", chat: "5", tries: 2, list: [1] }
  assert.equal(formatLogLine(record, false), "03:04:05.678 warn  chat poll failed chat=5 tries=2 list=[1]\n")
})

test("an error of ours is told by its code, another one with where it happened", () => {
  const line = (err: unknown) => formatLogLine({ level: 50, msg: "failed", err }, false)
  assert.equal(line({ code: "timeout", message: "too late", stack: "at x" }), "error failed (timeout: too late)\n")
  assert.equal(line({ message: "oops", stack: "Error: oops\n at x" }), "error failed (oops)\nError: oops\n at x\n")
  assert.equal(line({ message: "oops" }), "error failed (oops)\n")
  for (const none of [undefined, null, "text"]) assert.equal(line(none), "error failed\n")
})

test("colours are there for a terminal only, and what a record lacks leaves no gap", () => {
  assert.equal(
    formatLogLine({ level: 30, msg: "up", part: "main", port: 1 }, true),
    "\u001b[36minfo \u001b[0m \u001b[90mmain\u001b[0m up \u001b[90mport=\u001b[0m1\n",
  )
  assert.equal(formatLogLine({ msg: "no level" }, false), "info  no level\n")
  assert.equal(formatLogLine({ level: 35, msg: "own level" }, true), "\u001b[0m35   \u001b[0m own level\n")
})

test("what strangers have sent steers no terminal and makes no line of its own", () => {
  const evil = "a\u001b[2J\u009b2J\u202e\n00:00:00.000 info  all is well"
  const err = { message: evil, stack: `Error\n at ${evil}` }
  const line = formatLogLine(
    { level: 40, msg: evil, part: evil, [evil]: 1, from: evil, list: [{ [evil]: evil }], err },
    true,
  )
  const shown = "a\\x1b[2J\\x9b2J\\u202e\\n00:00:00.000 info  all is well"
  assert.ok(line.includes(`from=\u001b[0m${shown}`), line)
  // Our own colours are left; of the lines those of the stack.
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(line.replaceAll(/\u001b\[\d+m/g, ""), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  assert.equal(line.split("\n").length, 5)
})
