import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { test } from "node:test"
import { inQuotes, shellWord } from "./shell-word.ts"

test("a shell takes every word for the one that was meant, and plain ones stay as they are", () => {
  const words = ["plain-1.2/x", "", "two words", "it's", "$HOME", "`id`", "a;b", "*", "~", "\\", '"', "ü\nx"]
  const said = execFileSync("/bin/sh", ["-c", `printf '%s\\0' ${words.map(shellWord).join(" ")}`], { encoding: "utf8" })
  assert.deepEqual(said.split("\0").slice(0, -1), words)
  assert.equal(shellWord("plain-1.2/x"), "plain-1.2/x")
  assert.equal(inQuotes("plain"), "'plain'")
})
