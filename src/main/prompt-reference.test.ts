// The page of all prompts is what the product makes of real messages, deliveries and heartbeats.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { promptReference } from "../../scripts/generate-prompt-docs.ts"

test("docs/reference/prompts.md shows the prompts that are made (node scripts/generate-prompt-docs.ts)", async () => {
  const page = readFileSync(new URL("../../docs/reference/prompts.md", import.meta.url), "utf8")
  assert.equal(page, await promptReference())
})
