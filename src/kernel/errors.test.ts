import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "node:test"
import { errorReference } from "../../scripts/generate-error-docs.ts"
import { AppError, describeError, toAppError, toErrorBody } from "./errors.ts"

test("keeps the reference of errors up to date", () => {
  const committed = readFileSync(new URL("../../docs/reference/errors.md", import.meta.url), "utf8")
  assert.equal(committed, errorReference(), "run: node scripts/generate-error-docs.ts")
})

test("shows nothing of an unforeseen failure to the caller", () => {
  const body = toErrorBody(toAppError(new TypeError("x is undefined at /home/somebody/secret.ts")))
  assert.equal(body.error.code, "internal")
  assert.ok(!JSON.stringify(body).includes("somebody"))
})

test("describes an error with its causes in one line", () => {
  const error = new AppError("model-failed", "no answer", { cause: new Error("socket closed", { cause: "reset" }) })
  assert.equal(describeError(error), "no answer: socket closed: reset")
})

test("a disk that does not take a file is told as that, and not as something unforeseen", () => {
  const codes = ["ENOSPC", "EIO", "EFBIG", "ENOENT"].map(
    (code) => toAppError(Object.assign(new Error(code), { code })).code,
  )
  assert.deepEqual(codes, ["storage-full", "storage-failed", "storage-failed", "internal"])
  assert.equal(toAppError(undefined).code, "internal")
})
