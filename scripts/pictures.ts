// `npm run pictures`: plays a small story through a gateway and takes a picture of every page of it, as docs/pictures has
// them. With names only those; `--width 360`, `--dark` and `--into <folder>` for a look at other forms.
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import type { Page } from "playwright-core"
import { launchChromium, visit } from "../test/support/page-visitor.ts"
import { playScene } from "./pictures/scene.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    into: { type: "string", default: join(root, "docs", "pictures") },
    width: { type: "string", default: "1280" },
    dark: { type: "boolean", default: false },
    format: { type: "string", default: "webp" },
  },
})
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string }
/** What a page of documents may cost its readers. */
const mostBytes = 150_000

const ends: (() => unknown)[] = []
const context = { after: (end: () => unknown) => void ends.unshift(end) }
try {
  await takePictures()
} finally {
  for (const end of ends) await end()
}

async function takePictures(): Promise<void> {
  const { world, shoppingRun, tab } = await playScene(context as never)
  const visitor = await visit(await launchChromium(context as never), world.gateway)
  const width = Number(values.width)
  const { page } = visitor
  await page.setViewportSize({ width, height: width < 600 ? 780 : 800 })
  await page.emulateMedia({ colorScheme: values.dark ? "dark" : "light" })
  const places: [name: string, address: string][] = [
    ...(await pagesOf(page)).filter(([name]) => name !== "chat"),
    ["chat", "#/chat/agent%3Amain%3Aweb%3Amorning"],
    ["run", `#/runs/${shoppingRun}`],
    ["webhook", "#/webhooks/1"],
    ["message", "#/messages/1"],
    ["nodes", "#/settings/nodes"],
    ["secrets", "#/settings/secrets"],
    ["tab", `#/browser/managed/${tab}`],
  ]
  const folder = resolve(values.into)
  mkdirSync(folder, { recursive: true })
  for (const [name, address] of places) {
    if (positionals.length > 0 && !positionals.includes(name)) continue
    await visitor.open(address)
    if (name === "tab") await page.getByRole("button", { name: /Add Green Tea/ }).hover()
    const file = join(folder, `${name}.${values.format}`)
    writeFileSync(file, await picture(page))
    const { size } = statSync(file)
    process.stdout.write(`${file} ${Math.round(size / 1000)} KB\n`)
    if (values.format === "webp" && size > mostBytes) throw new Error(`${file} is larger than ${mostBytes} bytes`)
  }
}

/** Those of the menu. */
async function pagesOf(page: Page): Promise<[name: string, address: string][]> {
  const links = await page.locator("nav li a").evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""))
  return links.map((address) => [address.replace("#/", ""), address])
}

/** Of the window, when nothing loads or moves any more. */
async function picture(page: Page): Promise<Buffer> {
  // The gateway of tests is a bundle that knows no release.
  await page.evaluate(`document.querySelector("nav footer small").textContent = "svc ${version}"`)
  await page.evaluate("Promise.all(document.getAnimations().map((animation) => animation.finished))")
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send("Page.captureScreenshot", { format: values.format as "webp", quality: 74 })
  await session.detach()
  return Buffer.from(data, "base64")
}
