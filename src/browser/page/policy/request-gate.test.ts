// What the gate holds up only ever grows, in whatever order it is asked for and whatever goes wrong in between.
import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog } from "../../../../test/support/store.ts"
import { createBackground } from "../../../kernel/index.ts"
import type { CdpSession } from "../../cdp/index.ts"
import { RequestGate } from "./request-gate.ts"

interface Enabled {
  patterns: { urlPattern: string; resourceType?: string }[]
}

/** A browser's end of the session that keeps the last patterns it took, and refuses the calls of these numbers. */
function startGate(refused: readonly number[]) {
  let calls = 0
  let taken: Enabled["patterns"] = []
  const root = {
    on: () => () => undefined,
    async send(_method: string, { patterns }: Enabled) {
      calls += 1
      if (refused.includes(calls)) throw new Error("refused")
      taken = patterns
    },
  }
  const gate = new RequestGate({
    root: root as unknown as CdpSession,
    isHeldBack: () => false,
    policyFor: () => undefined,
    login: () => ({ response: "Default" }),
    background: createBackground(silentLog),
    log: silentLog,
  })
  return { gate, seesDocuments: () => taken.some(({ urlPattern, ...more }) => urlPattern === "*" && isDocument(more)) }
}

function isDocument({ resourceType }: { resourceType?: string }): boolean {
  return resourceType === undefined || resourceType === "Document"
}

for (const [name, refused] of [
  ["when all goes well", []],
  ["when a later kind was refused once", [2]],
  ["when it was refused twice", [2, 3]],
] as const) {
  test(`documents are still seen after other kinds were asked for, ${name}`, async () => {
    const { gate, seesDocuments } = startGate(refused)
    await gate.start("documents")
    for (const _refusal of refused) await assert.rejects(gate.start("unencrypted"), /refused/)
    await gate.start("unencrypted")
    assert.ok(seesDocuments())
    await gate.start("everything")
    await gate.start("unencrypted")
    assert.ok(seesDocuments())
  })
}
