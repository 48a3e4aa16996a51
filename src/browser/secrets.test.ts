// Secrets in a real browser: filled in by name on their own origin alone, and shown nowhere that a model looks.
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { after, before, test } from "node:test"
import { inflateRawSync } from "node:zlib"
import { AppError, Secret } from "../kernel/index.ts"
import { type BrowserBench, startBrowserBench } from "../../test/support/browser-service.ts"
import { type LoginSite, startLoginSite } from "../../test/support/login-site.ts"
import { memorySites, toolContext } from "../../test/support/tool-context.ts"

const password = 'Möhren & "Erbsen" 42'
let bench: BrowserBench
let site: LoginSite

before(async () => {
  site = await startLoginSite()
  const kept = new Map([
    ["shop", { value: new Secret(password), anyField: false }],
    ["pin", { value: new Secret("7431"), anyField: false }],
    ["user", { value: new Secret("ada.lovelace"), anyField: true }],
  ])
  bench = await startBrowserBench(
    { navigation: { policy: "open", allow: ["127.0.0.1"], deny: [] } },
    {
      secrets: {
        namesFor: (origin) => (origin === site.url ? [...kept.keys()] : []),
        async reveal(name, origin) {
          const found = kept.get(name)
          if (!found) throw new AppError("not-found", `There is no secret ${name}`)
          if (origin !== site.url) throw new AppError("forbidden", `The secret ${name} is not for ${origin}`)
          return found
        },
      },
    },
  )
})

after(async () => {
  await bench.stop()
  await site.stop()
})

const context = toolContext()
type Given = { action: string } & Record<string, unknown>
const use = (input: Given, more = {}) =>
  bench.service.tool.run(bench.service.tool.input.parse(input), { ...context, ...more })
const act = (request: object, more = {}) => use({ action: "act", request }, more)
const textOf = (result: { note?: string; content: object[] }) =>
  [result.note ?? "", ...result.content.map((part) => ("text" in part ? part.text : ""))].join("\n")
const refIn = (page: string, name: string) => new RegExp(`"${name}" \\[ref=(\\w+)\\]`).exec(page)?.[1] as string
const look = async (mode = "efficient") => textOf(await use({ action: "snapshot", mode }))

test("a login by names: the site gets the values, nothing that the model reads has them", async () => {
  const opened = textOf(await use({ action: "open", url: site.url }))
  assert.match(opened, /Kept secrets for this page: pin, shop, user/)
  const trace = await bench.call("POST", "/trace/start", {})
  assert.equal(trace.status, 200, JSON.stringify(trace.body))
  const page = await look()
  const [user, field] = [refIn(page, "User"), refIn(page, "Password")]
  const seen = [
    textOf(
      await act({
        kind: "fill",
        fields: [
          { ref: user, secret: "user" },
          { ref: field, value: { secret: "shop" } },
        ],
      }),
    ),
  ]
  seen.push(textOf(await act({ kind: "click", ref: refIn(page, "Show password") })))
  seen.push(textOf(await act({ kind: "click", ref: refIn(page, "Repeat") })))
  seen.push(await look(), await look("full"))
  seen.push(textOf(await use({ action: "snapshot", snapshotFormat: "aria" })))
  seen.push(textOf(await use({ action: "console" })), textOf(await use({ action: "requests" })))
  assert.match(seen.join("\n"), /You typed \[a secret of the gateway\]/, "the page does repeat it")
  await assert.rejects(act({ kind: "evaluate", fn: "() => [...p.value].join(' ')" }), { code: "forbidden" })
  await assert.rejects(act({ kind: "wait", fn: "() => p.value.startsWith('M')" }), { code: "forbidden" })
  const wrong = await act({ kind: "type", ref: user, text: "somebody", mode: "caret" }).then(textOf, String)
  seen.push(wrong)
  await assert.rejects(act({ kind: "type", ref: field, secret: "shop" }), /shows what it holds/)
  await act({ kind: "fill", fields: [{ ref: refIn(page, "Code"), secret: "pin" }], submit: true })
  seen.push(await look("full"))
  for (const text of seen) assert.doesNotMatch(text, /Möhren|Erbsen|%C3%B6hren|ada\.lovelace/)
  assert.deepEqual([site.posts.length, site.posts[0]?.["password"], site.posts[0]?.["code"]], [1, password, "7431"])
  assert.match(seen.at(-1) ?? "", /Welcome/)
  const { body } = await bench.call("POST", "/trace/stop", {})
  const members = await unzipped(body.path)
  assert.ok(members.length > 3 && members.some((text) => text.includes("/login")))
  for (const text of members) {
    for (const word of ["hren & ", "hren+%26", "hren%20%26", "Erbsen"]) assert.ok(!text.includes(word), word)
  }
})

test("neither what the browser has against a field nor a guess at its words tells what was filled in", async () => {
  await use({ action: "navigate", url: site.url })
  const mail = "() => void (document.querySelector('[name=user]').type = 'email')"
  await act({ kind: "evaluate", fn: mail })
  const page = await look()
  const [user, field] = [refIn(page, "User"), refIn(page, "Password")]
  await act({ kind: "fill", fields: [{ ref: user, secret: "user" }] })
  await act({ kind: "fill", fields: [{ ref: field, secret: "shop" }] })
  // Chromium's words for an address without an "@" are about the very address.
  await act({ kind: "click", ref: refIn(page, "Sign in") })
  for (const mode of ["efficient", "full"]) {
    const text = await look(mode)
    assert.match(text, /textbox "User" \[ref=\w+\] \[invalid\]/)
    assert.doesNotMatch(text, /lovelace/)
  }
  const guesses: [string, string][] = [
    [user, "a"],
    [user, "z"],
    [field, "M"],
    [field, "z"],
  ]
  for (const [ref, guess] of guesses)
    await assert.rejects(act({ kind: "select", ref, values: [guess] }), { code: "forbidden" }, guess)
})

async function unzipped(path: string): Promise<string[]> {
  const zip = await readFile(path)
  const end = zip.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  const texts: string[] = []
  let at = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const local = zip.readUInt32LE(at + 42)
    const data = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
    const packed = zip.subarray(data, data + zip.readUInt32LE(at + 20))
    texts.push((zip.readUInt16LE(at + 10) === 0 ? packed : inflateRawSync(packed)).toString("utf8"))
    at += 46 + zip.readUInt16LE(at + 28) + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  return texts
}

test("a picture of a page that repeats a secret shows dots, whichever way the page shows it", async () => {
  await use({ action: "navigate", url: site.url })
  const blank = await shot()
  const page = await look()
  await act({ kind: "fill", fields: [{ ref: refIn(page, "Password"), secret: "shop" }] })
  const hidden = await shot()
  assert.notEqual(hidden, blank, "something was filled in")
  await act({ kind: "click", ref: refIn(page, "Show password") })
  // The focus moves on: only what the field shows may be compared.
  const shown = await shot(refIn(page, "Password"))
  await act({ kind: "fill", fields: [{ ref: refIn(page, "Password"), value: "M".repeat(password.length) }] })
  await act({ kind: "click", ref: refIn(page, "Show password") })
  const other = await shot(refIn(page, "Password"))
  assert.equal(shown, other, "as many dots for any words of this length")
})

async function shot(ref?: string): Promise<string> {
  const result = await use({ action: "screenshot", ...(ref === undefined ? {} : { ref }) })
  return (result.content[1] as { data: string }).data
}

test("a secret goes nowhere else: not to another origin, a frame's parent, or a field that shows what it holds", async () => {
  await use({ action: "navigate", url: site.framedIn() })
  const page = await look()
  const passwords = [...page.matchAll(/"Password" \[ref=(\w+)\]/g)].map((match) => match[1] as string)
  assert.equal(passwords.length, 2, page)
  const fill = (ref: string, secret = "shop") => act({ kind: "fill", fields: [{ ref, secret }], timeoutMs: 800 })
  await assert.rejects(fill(passwords[0] as string), { code: "forbidden" })
  await fill(passwords[1] as string)
  await use({ action: "navigate", url: site.url })
  const own = await look()
  await assert.rejects(fill(refIn(own, "User")), { code: "forbidden" })
  await fill(refIn(own, "Code"), "pin")
  // Ids and ports are random.
  const shown = (await look()).replaceAll(/"targetId":"\w+"|127\.0\.0\.1:\d+/g, "")
  assert.doesNotMatch(shown, /7431/, "too short to be hidden by its words, so its field is")
  await assert.rejects(fill(refIn(own, "Password"), "nothing"), { code: "not-found" })
  await assert.rejects(fill(refIn(own, "Sign in")), { code: "not-editable" })
  await assert.rejects(
    act({ kind: "fill", fields: [{ ref: refIn(own, "Password"), value: "a", secret: "shop" }] }),
    /one of them/,
  )
})

test("words of others may have it filled in only where it belongs; a turn that acts for others has to ask", async () => {
  await use({ action: "navigate", url: site.url })
  const page = await look()
  const input = (fields: object[]) =>
    bench.service.tool.input.parse({ action: "act", request: { kind: "fill", fields, submit: true } })
  const secret = { ref: refIn(page, "Password"), secret: "shop" }
  const gate = (fields: object[], more: object) =>
    bench.service.tool.gate?.(input(fields), { ...context, sites: memorySites(), tainted: true, ...more })
  assert.equal(await gate([secret], {}), undefined)
  assert.ok(await gate([secret, { ref: refIn(page, "User"), value: "x" }], {}), "other words are looked at as always")
  const guest = { trusted: false, origin: "hook", sessionKey: "agent:main:hook:x" }
  await use({ action: "open", url: site.url }, guest)
  const theirs = textOf(await use({ action: "snapshot" }, guest))
  assert.doesNotMatch(theirs, /Kept secrets/)
  const field = { ref: refIn(theirs, "Password"), secret: "shop" }
  const asked = await gate([field], guest)
  assert.match(JSON.stringify(asked), /Fill a kept secret into[^]*"secret":"shop"/)
  await assert.rejects(act({ kind: "fill", fields: [field] }, guest), { code: "forbidden" })
  await act({ kind: "fill", fields: [field] }, { ...guest, approved: true })
})
