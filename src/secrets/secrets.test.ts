// Secrets without a browser: what is written where, what they are bound to, and password managers as strict as the real ones.
import assert from "node:assert/strict"
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type TestContext, test } from "node:test"
import { silentLog as log, testStore } from "../../test/support/store.ts"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { Secret } from "../kernel/index.ts"
import { parseOrigin } from "./origin.ts"
import { createSecrets } from "./secrets.ts"

const { signal } = new AbortController()
const origin = "https://shop.example"

async function house(context: TestContext, variables: Record<string, string> = {}) {
  const store = await testStore(context)
  const revealed: string[] = []
  const stateFolder = temporaryFolder()
  const secrets = createSecrets({
    store,
    stateFolder,
    variables: { PATH: process.env["PATH"] ?? "", ...variables },
    log,
    onReveal: (value) => void revealed.push(value.reveal()),
  })
  return { secrets, store, stateFolder, revealed }
}

test("what is kept is sealed with a key that is no part of the database, and bound to its origins", async (context) => {
  const { secrets, store, stateFolder, revealed } = await house(context)
  const kept = await secrets.set({ name: "shop", origins: [`${origin}/`], value: new Secret("tea-and-honey-9") })
  assert.deepEqual(kept.origins, [origin])
  const key = join(stateFolder, "secrets.key")
  assert.equal(statSync(key).mode & 0o777, 0o600)
  const row = JSON.stringify(store.handle.prepare("select * from secret").all())
  assert.doesNotMatch(row, /honey/)
  assert.equal((await secrets.reveal("shop", origin, signal)).value.reveal(), "tea-and-honey-9")
  assert.deepEqual(revealed, ["tea-and-honey-9"])
  await assert.rejects(secrets.reveal("shop", "https://evil.example", signal), { code: "forbidden" })
  await assert.rejects(secrets.reveal("shop", `${origin}:8443`, signal), { code: "forbidden" })
  await assert.rejects(secrets.reveal("other", origin, signal), { code: "not-found" })
  assert.deepEqual([secrets.namesFor(origin), secrets.namesFor("null")], [["shop"], []])
  chmodSync(key, 0o644)
  await secrets.reveal("shop", origin, signal)
  assert.equal(statSync(key).mode & 0o777, 0o600, "a key that others could read is closed again")
})

test("a row whose origins somebody has changed opens no more; neither does one without its key", async (context) => {
  const { secrets, store, stateFolder } = await house(context)
  await secrets.set({ name: "shop", origins: [origin], value: new Secret("tea-and-honey-9") })
  await store.write(async (write) =>
    write.prepare("update secret set origins = ?").run(JSON.stringify(["https://evil.example"])),
  )
  await assert.rejects(secrets.reveal("shop", "https://evil.example", signal), { code: "secret-unavailable" })
  rmSync(join(stateFolder, "secrets.key"))
  await assert.rejects(secrets.reveal("shop", "https://evil.example", signal), /is gone/)
  await assert.rejects(
    secrets.set({ name: "other", origins: [origin], value: new Secret("x") }),
    /is gone/,
    "no second key beside sealed rows",
  )
  await secrets.set({ name: "shop", origins: [origin], value: new Secret("set-anew") })
  assert.equal((await secrets.reveal("shop", origin, signal)).value.reveal(), "set-anew")
})

test("origins are exact, and not sent in the open over other networks", () => {
  assert.equal(parseOrigin("https://Shop.Example:443/"), origin)
  assert.equal(parseOrigin("http://192.168.1.1"), "http://192.168.1.1")
  for (const wrong of ["shop.example", "https://shop.example/login", "https://a:b@shop.example", "file:///etc", "*"])
    assert.throws(() => parseOrigin(wrong), { code: "bad-request" }, wrong)
  assert.throws(() => parseOrigin("http://shop.example"), /not encrypted/)
})

test("what no field could hold, and more than one source, is refused", async (context) => {
  const { secrets } = await house(context)
  const set = (more: object) => secrets.set({ name: "x", origins: [origin], ...more })
  const wrong = [
    { value: new Secret("") },
    { value: new Secret("two\nlines") },
    {},
    { value: new Secret("a"), op: "op://a/b/c" },
    { op: "op://only/two" },
    { op: "--help" },
    { bw: { item: "--session", field: "password" } },
    { value: new Secret("a"), origins: [] },
  ]
  for (const more of wrong) await assert.rejects(set(more), { code: "bad-request" }, JSON.stringify(more))
  assert.deepEqual(secrets.list(), [])
})

/** Programs that take exactly what the real ones take, and say what those say. */
const onePassword = `#!/bin/sh
[ "$1" = read ] || { echo "[ERROR] unknown command \\"$1\\" for \\"op\\"" >&2; exit 1; }
shift; newline=yes
while [ $# -gt 1 ]; do case "$1" in --no-newline|-n) newline=no; shift;; *) echo "[ERROR] unknown flag: $1" >&2; exit 1;; esac; done
[ -n "$OP_SERVICE_ACCOUNT_TOKEN" ] || { echo "[ERROR] No accounts configured for use with 1Password CLI." >&2; exit 1; }
[ -z "$GATEWAY_KEY" ] || { echo "[ERROR] the environment is not clean" >&2; exit 1; }
case "$1" in op://Private/Shop/password) printf 'from-one-password';; *) echo "[ERROR] could not read secret '$1': item not found" >&2; exit 1;; esac
[ $newline = no ] || echo
`
const bitwarden = `#!/bin/sh
interactive=yes
[ "$1" = --nointeraction ] && { interactive=no; shift; }
if [ "$BW_SESSION" != open ]; then
  [ $interactive = no ] && { echo "Vault is locked." >&2; exit 1; }
  printf '? Master password: [input is hidden] ' >&2; read -r password; exit 1
fi
[ "$1" = get ] || { echo "error: unknown command '$1'" >&2; exit 1; }
[ $# = 3 ] || { echo "error: missing required argument 'id'" >&2; exit 1; }
case "$2 $3" in
  "password Shop") printf 'from-bitwarden';;
  "totp Shop") printf '482913';;
  "password Bank") echo "More than one result was found. Try getting a specific object by \\\`id\\\` instead." >&2; exit 1;;
  *) echo "Not found." >&2; exit 1;;
esac
`

test("password managers are asked by their own programs each time", async (context) => {
  const programs = temporaryFolder()
  for (const [name, script] of Object.entries({ op: onePassword, bw: bitwarden })) {
    writeFileSync(join(programs, name), script, { mode: 0o755 })
  }
  const variables: Record<string, string> = { PATH: `${programs}:/usr/bin:/bin`, GATEWAY_KEY: "not for others" }
  const { secrets, store, stateFolder } = await house(context, variables)
  const live = createSecrets({ store, stateFolder, variables, log, onReveal: () => undefined })
  const set = (name: string, source: object) => live.set({ name, origins: [origin], ...source })
  await set("one", { op: "op://Private/Shop/password" })
  await set("none", { op: "op://Private/Other/password" })
  await set("two", { bw: { item: "Shop", field: "password" } })
  await set("code", { bw: { item: "Shop", field: "totp" } })
  await set("several", { bw: { item: "Bank", field: "password" } })
  const take = async (name: string) => (await live.reveal(name, origin, signal)).value.reveal()
  await assert.rejects(take("one"), /No accounts configured[^]*/)
  await assert.rejects(take("two"), /Vault is locked/)
  Object.assign(variables, { OP_SERVICE_ACCOUNT_TOKEN: "ops_x", BW_SESSION: "open" })
  assert.deepEqual(
    [await take("one"), await take("two"), await take("code")],
    ["from-one-password", "from-bitwarden", "482913"],
  )
  await assert.rejects(take("none"), /item not found/)
  await assert.rejects(take("several"), /More than one result/)
  variables["PATH"] = "/nonexistent"
  await assert.rejects(take("two"), (error: { code: string; hint: string }) => {
    assert.equal(error.code, "secret-unavailable")
    assert.match(error.hint, /PATH/)
    return true
  })
  assert.deepEqual(
    secrets.list().map(({ name, reference }) => `${name} ${reference}`),
    [
      "code totp/Shop",
      "none op://Private/Other/password",
      "one op://Private/Shop/password",
      "several password/Bank",
      "two password/Shop",
    ],
  )
  assert.throws(() => readFileSync(join(stateFolder, "secrets.key")), /ENOENT/, "nothing was sealed")
})
