import assert from "node:assert/strict"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { test } from "node:test"
import { cdpPortRange, findFreePort } from "./ports.ts"

test("derives the range from the control port, and falls back where no such ports are", () => {
  assert.deepEqual(cdpPortRange(18_791), { first: 18_800, last: 18_899 })
  assert.deepEqual(cdpPortRange(65_427), { first: 65_436, last: 65_535 })
  assert.deepEqual(cdpPortRange(65_428), { first: 18_800, last: 18_899 })
  assert.deepEqual(cdpPortRange(0), { first: 18_800, last: 18_899 })
})

test("skips ports that are listened on or spoken for, and never gives 9222", async (t) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const range = { first: port, last: port }
  await assert.rejects(findFreePort({ range, preferred: undefined, taken: new Set() }), { code: "port-range-full" })
  await assert.rejects(findFreePort({ range: { first: 9222, last: 9222 }, preferred: 9222, taken: new Set() }), {
    code: "port-range-full",
  })
  await assert.rejects(
    findFreePort({ range: { first: 18_899, last: 18_899 }, preferred: undefined, taken: new Set([18_899]) }),
    {
      code: "port-range-full",
    },
  )
})

test("passes over free ports when it is asked to, as far as there are more", async (t) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen({ host: "127.0.0.1", port: 0 }, resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const find = (skip: number) =>
    findFreePort({ range: { first: port, last: port + 3 }, preferred: undefined, taken: new Set([port + 1]), skip })
  const [first, last] = [await find(0), await find(99)]
  assert.ok(first >= port + 2 && last <= port + 3)
  assert.ok((await find(1)) >= first)
})
