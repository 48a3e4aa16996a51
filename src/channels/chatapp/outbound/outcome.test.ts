import assert from "node:assert/strict"
import { test } from "node:test"
import { AppError } from "../../../kernel/index.ts"
import { judgeMedia } from "./outcome.ts"

const retry = { attempts: 3, minDelayMs: 100, maxDelayMs: 1_000, jitter: 0 }
const failed = (code: string) =>
  new AppError("media-refused", `The file a.png cannot be sent: ${code}`, {
    cause: Object.assign(new Error(code), { code }),
  })

test("a file that the disk does not give out is tried again, for as long as anything is; one that is not there is not", () => {
  const judged = (code: string, attempt: number) => judgeMedia(failed(code), { attempt, retry })?.kind
  for (const code of ["EIO", "ESTALE", "EMFILE"]) assert.equal(judged(code, 1), "retry", code)
  assert.equal(judged("EIO", 3), "rejected")
  for (const code of ["ENOENT", "EACCES", "ELOOP"]) assert.equal(judged(code, 1), "rejected", code)
  assert.equal(judgeMedia(new TypeError("ours"), { attempt: 1, retry }), undefined)
})
