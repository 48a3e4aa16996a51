import assert from "node:assert/strict"
import { test } from "node:test"
import { AppError } from "../errors.ts"
import { createRedactor } from "../redact.ts"
import { errorResponse } from "./respond.ts"

const headersOf = (...error: ConstructorParameters<typeof AppError>) =>
  errorResponse(new AppError(...error), createRedactor()).headers

test("a connection on which the rest of a refused body may still come is not used again", () => {
  assert.equal(headersOf("payload-too-large", "The body is too large").get("connection"), "close")
  assert.equal(headersOf("request-timeout", "The body did not come").get("connection"), "close")
  assert.equal(headersOf("not-found", "There is nothing").get("connection"), null)
})

test("who is told to come again is told when", () => {
  assert.equal(headersOf("too-many-failures", "Slower", { retryAfterSeconds: 17 }).get("retry-after"), "17")
  assert.equal(headersOf("storage-full", "The disk is full").get("retry-after"), "5")
  assert.equal(headersOf("not-found", "There is nothing").get("retry-after"), null)
})
