// What of the limit of open files is kept for whom, and which errors are a lack of them.
import assert from "node:assert/strict"
import { describe, test } from "node:test"
import { AppError } from "./errors.ts"
import { explainHandles, isDiskFailure, isOutOfHandles, planHandles, readHandleLimit } from "./handles.ts"

const limits = (soft: string) => () =>
  `Limit  Soft Limit  Hard Limit  Units\nMax open files            ${soft}   4096   files\n`

describe("the limit of open files", () => {
  test("is read from the system, where it has one", () => {
    assert.equal(readHandleLimit(limits("1024")), 1_024)
    assert.equal(readHandleLimit(limits("unlimited")), undefined)
    assert.equal(
      readHandleLimit(() => {
        throw Object.assign(new Error("no such file"), { code: "ENOENT" })
      }),
      undefined,
    )
    if (process.platform === "linux") assert.ok((readHandleLimit() ?? 0) > 0)
  })

  test("is shared so that all listeners together leave room for our own work", () => {
    for (const limit of [512, 1_024, 4_096, 1_048_576]) {
      const { perListener } = planHandles(limit)
      assert.ok(perListener * 4 <= limit - 192, `${limit}: ${perListener} each`)
    }
    assert.equal(planHandles(64).perListener, 8)
    assert.equal(planHandles(undefined).perListener, 4_096)
  })

  test("is complained of when it is low, with the command that raises it", () => {
    assert.match(planHandles(256).warning ?? "", /256 .*ulimit -n 4096.*LimitNOFILE=4096/)
    assert.equal(planHandles(1_024).warning, undefined)
    assert.equal(planHandles(undefined).warning, undefined)
  })
})

test("a lack of handles is found at the bottom of an error, and is a failure of the machine's", () => {
  const bare = Object.assign(new Error("connect EMFILE 127.0.0.1:1"), { code: "EMFILE" })
  const wrapped = [
    bare,
    new TypeError("fetch failed", { cause: bare }),
    new AggregateError([new Error("x"), Object.assign(new Error("y"), { code: "ENFILE" })]),
    new AppError("browser-start-failed", "x", { cause: bare }),
  ]
  for (const error of wrapped) {
    assert.ok(isOutOfHandles(error), error.message)
    const explained = explainHandles(error)
    assert.ok(explained instanceof AppError && explained.code === "storage-handles" && explained.cause === error)
    assert.equal(explainHandles(explained), explained)
  }
  const loop = new Error("loop")
  loop.cause = loop
  for (const other of [loop, new Error("EMFILE in words"), null, "EMFILE", { code: "ENOENT" }]) {
    assert.equal(explainHandles(other), other)
  }
})

test("a disk that does not work is known for that, also behind an error of ours", () => {
  const failed = Object.assign(new Error("i/o error, read"), { code: "EIO" })
  assert.ok(isDiskFailure(failed))
  assert.ok(isDiskFailure(new AppError("media-refused", "The file cannot be sent", { cause: failed })))
  for (const code of ["ENOENT", "EACCES", "EMFILE"]) assert.ok(!isDiskFailure(Object.assign(new Error(code), { code })))
})
