import assert from "node:assert/strict"
import { test } from "node:test"
import { sharingQuestion } from "./sharing.ts"

test("whoever lets a second person in is told what sharing shows, and how each gets a session", () => {
  const question = sharingQuestion({ dmScope: "main", others: 1, name: "Ben" })
  assert.match(
    question?.text ?? "",
    /Ben would share one conversation with you[^]*stands in front of the agent[^]*Should Ben/,
  )
  assert.match(question?.text ?? "", /svc config set session\.dmScope per-channel-peer/)
  assert.equal(sharingQuestion({ dmScope: "main", others: 0, name: "Ben" }), undefined)
  assert.equal(sharingQuestion({ dmScope: "per-peer", others: 3, name: "Ben" }), undefined)
})
