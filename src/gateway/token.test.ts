import assert from "node:assert/strict"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, test } from "node:test"
import { systemIds } from "../kernel/index.ts"
import { readGatewayFile, removeGatewayFile, writeGatewayFile } from "./gateway-file.ts"
import { makeLog } from "./gateway.fixture.ts"
import { loadGatewayToken } from "./token.ts"

let stateFolder: string
beforeEach(() => (stateFolder = mkdtempSync(join(tmpdir(), "token-test-"))))
afterEach(() => rmSync(stateFolder, { recursive: true }))

function load(options: { configured?: string; hookToken?: string } = {}) {
  const { log, logged } = makeLog(stateFolder)
  return { ...loadGatewayToken({ ...options, stateFolder, ids: systemIds, log }), logged }
}
const tokenFile = () => join(stateFolder, "gateway-token")
const modeOf = (file: string) => statSync(file).mode & 0o777

test("a token is generated once and kept where only its owner can read it", () => {
  const first = load()
  assert.equal(first.file, tokenFile())
  assert.equal(modeOf(first.file), 0o600)
  const text = readFileSync(first.file, "utf8").trim()
  assert.match(text, /^[\w-]{43}$/)
  assert.ok(first.token.matches(text))
  assert.equal(first.length, 43)
  assert.ok(load().token.matches(text))
  assert.ok(!first.logged().includes(text))
})

test("a configured token wins, stands in no file of ours, and ends when it is taken out", () => {
  writeFileSync(join(stateFolder, "gateway-token.configured"), "left-by-an-earlier-version-0123")
  load()
  const generated = readFileSync(tokenFile(), "utf8").trim()
  const configured = load({ configured: " configured-secret-0123456789 " })
  assert.ok(configured.token.matches("configured-secret-0123456789"))
  assert.equal(configured.source, "config")
  const local = readFileSync(configured.file, "utf8").trim()
  assert.ok(configured.token.matches(local) && !configured.token.matches(generated))
  for (const file of readdirSync(stateFolder)) {
    const text = statSync(join(stateFolder, file)).isFile() ? readFileSync(join(stateFolder, file), "utf8") : ""
    assert.ok(!/configured-secret|left-by-an-earlier/.test(text), file)
  }
  const next = load({ configured: "configured-secret-0123456789" })
  assert.ok(!next.token.matches(local), "the local one is new at every start")
  assert.equal(modeOf(configured.file), 0o600)
  const again = load()
  assert.ok(again.token.matches(generated))
  assert.equal(statSync(configured.file, { throwIfNoEntry: false }), undefined)
})

test("wide rights of the token file are narrowed with a warning", () => {
  writeFileSync(tokenFile(), "0123456789abcdef0123456789abcdef\n")
  chmodSync(tokenFile(), 0o644)
  const { logged } = load()
  assert.equal(modeOf(tokenFile()), 0o600)
  assert.match(logged(), /rights narrowed/)
})

test("an empty, short or unsendable token refuses to start", () => {
  for (const text of ["", "\n", "short", "fifteen-charact", "with a space in it 0123", "sécret-0123456789abcdef"]) {
    writeFileSync(tokenFile(), text)
    assert.throws(() => load(), { code: "config-invalid" })
    assert.throws(() => load({ configured: text }), { code: "config-invalid" })
  }
})

test("a token file that cannot be read or made refuses to start", () => {
  mkdirSync(tokenFile())
  assert.throws(() => load(), { code: "internal", message: /does not start/ })
  rmSync(tokenFile(), { recursive: true })
  const blocked = join(stateFolder, "file")
  writeFileSync(blocked, "")
  const { log } = makeLog(stateFolder)
  assert.throws(() => loadGatewayToken({ stateFolder: join(blocked, "below"), ids: systemIds, log }), {
    code: "internal",
  })
})

test("the hooks' token must be another one, whether the gateway's is configured or generated", () => {
  load()
  const generated = readFileSync(tokenFile(), "utf8").trim()
  const shows = (error: Error) => {
    assert.match(error.message, /hooks\.token/)
    assert.ok(!error.message.includes(generated))
    return true
  }
  assert.throws(() => load({ hookToken: generated }), shows)
  assert.throws(() => load({ configured: "same-secret-0123456789", hookToken: "same-secret-0123456789" }), shows)
  load({ hookToken: "another-secret-0123456789" })
})

test("the gateway's file is whole, private, and removed only by the boot that wrote it", () => {
  const content = {
    pid: 1,
    bootId: "a",
    host: "127.0.0.1",
    port: 1,
    controlPort: 3,
    tokenFile: tokenFile(),
    startedAt: "2026-01-01T00:00:00.000Z",
    version: "0.0.0",
  }
  assert.equal(readGatewayFile(stateFolder), undefined)
  removeGatewayFile(stateFolder, "a")
  writeGatewayFile(stateFolder, content)
  assert.deepEqual(readGatewayFile(stateFolder), content)
  assert.equal(modeOf(join(stateFolder, "gateway.json")), 0o600)
  removeGatewayFile(stateFolder, "b")
  assert.ok(readGatewayFile(stateFolder))
  removeGatewayFile(stateFolder, "a")
  assert.equal(readGatewayFile(stateFolder), undefined)
})
