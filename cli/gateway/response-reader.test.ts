import assert from "node:assert/strict"
import { test } from "node:test"
import { ResponseReader } from "./response-reader.ts"

const chunked =
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7;x=1\r\n, w\u00f6rld\r\n0\r\nTrailer: x\r\n\r\n"

function readAll(text: string, pieceBytes: number, maxBodyBytes = 1000) {
  const reader = new ResponseReader(maxBodyBytes)
  const bytes = Buffer.from(text, "latin1")
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    const response = reader.push(bytes.subarray(start, start + pieceBytes))
    if (response) return response
  }
  return reader.end()
}

test("reads a body by chunks, however the bytes are cut", () => {
  for (let pieceBytes = 1; pieceBytes <= chunked.length; pieceBytes += 1) {
    const response = readAll(chunked, pieceBytes)
    assert.equal(response?.status, 200)
    assert.equal(response.body.toString("latin1"), "hello, w\u00f6rld", `pieces of ${pieceBytes} bytes`)
  }
})

test("reads a body by its length, however the bytes are cut, and nothing behind it", () => {
  const text = "HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\nX-Other:  value \r\n\r\nbodyAND MORE"
  for (let pieceBytes = 1; pieceBytes <= text.length; pieceBytes += 1) {
    const response = readAll(text, pieceBytes)
    assert.equal(response?.status, 404)
    assert.equal(response.body.toString(), "body")
    assert.equal(response.headers.get("x-other"), "value")
  }
})

test("reads a body without a length until the connection ends", () => {
  assert.equal(readAll("HTTP/1.0 200 OK\r\n\r\nall of it", 3)?.body.toString(), "all of it")
})

test("passes over announcements and takes the response behind them", () => {
  const response = readAll("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", 5)
  assert.equal(response?.status, 204)
  assert.equal(response.body.length, 0)
})

test("is not satisfied with a body that was cut off", () => {
  assert.equal(readAll("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", 100), undefined)
  assert.equal(readAll(chunked.slice(0, -2), 100), undefined)
  assert.equal(readAll("HTTP/1.1 200 OK\r\n", 100), undefined)
})

test("refuses what is not HTTP and what is too large", () => {
  assert.throws(() => readAll("SSH-2.0-OpenSSH\r\n\r\n", 100), /does not speak HTTP/)
  assert.throws(() => readAll(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(70_000)}`, 1000), /head is too large/)
  assert.throws(() => readAll("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n", 100), /too large/)
  assert.throws(() => readAll(`HTTP/1.1 200 OK\r\n\r\n${"y".repeat(1001)}`, 100), /too large/)
  assert.throws(() => readAll("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", 100), /malformed length/)
  assert.throws(() => readAll("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 100), /malformed chunk/)
  assert.throws(() => readAll("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", 100), /transfer coding/)
})
