// The page stays small: all that the build makes of it, before compression.
import assert from "node:assert/strict"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { extname, join } from "node:path"
import { before, test } from "node:test"
import { temporaryFolder } from "../test/support/temporary.ts"
import { buildDashboard } from "./build-dashboard.mjs"

const folder = join(temporaryFolder(), "dashboard")
before(() => buildDashboard(folder))

const names = () => all().filter((name) => !name.startsWith("takeover"))
const all = () => readdirSync(folder).filter((name) => ![".br", ".gz"].includes(extname(name)))
const bytesOf = (list: string[]) => list.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

test("all files of all pages together are under 111 KB, the stylesheet under 12 KB", () => {
  assert.ok(bytesOf(names()) < 111_000, `${bytesOf(names())} bytes`)
  assert.ok(bytesOf(names().filter((name) => name.endsWith(".css"))) < 12_000)
})

test("the page behind a link to a tab is one of its own, under 16 KB", () => {
  const own = all().filter((name) => name.startsWith("takeover"))
  assert.ok(own.includes("takeover.html") && bytesOf(own) < 16_000, `${bytesOf(own)} bytes`)
  assert.doesNotMatch(readFileSync(join(folder, "takeover.html"), "utf8"), /<style|<script(?![^>]* src=)|style="/)
})

test("what the first view loads is under 60 KB, and stands in the document, so that it is asked for at once", () => {
  const document = readFileSync(join(folder, "index.html"), "utf8")
  const asked = [...document.matchAll(/(?:href|src)="([^"]+)"/g)].map((match) => match[1] as string)
  assert.ok(asked.some((name) => name.startsWith("page-")) && asked.every((name) => names().includes(name)))
  assert.ok(bytesOf([...asked, "index.html"]) < 60_000, `${bytesOf(asked)} bytes`)
})

test("nothing is inline, and nothing comes from elsewhere", () => {
  const document = readFileSync(join(folder, "index.html"), "utf8")
  assert.doesNotMatch(document, /<style|<script(?![^>]* src=)|\son\w+=|style="/)
  for (const name of names().filter((one) => /\.(html|css|js)$/.test(one))) {
    const content = readFileSync(join(folder, name), "utf8")
    assert.doesNotMatch(content.replaceAll(/http:\/\/www\.w3\.org\/[\w/.]+/g, ""), /https?:\/\/(?!preactjs\.com)/, name)
  }
})

test("each file has its compressed forms", () => {
  for (const name of names()) for (const form of [".br", ".gz"]) assert.ok(statSync(join(folder, name + form)).size > 0)
})
