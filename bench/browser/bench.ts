// Browser control through HTTP, against a floor measured in the same run: one function in the page over raw CDP, or raw
// input events. Pages of a form, 500 and 20,000 controls.
import { writeFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { cdpPortRange, findFreePort } from "../../src/browser/profiles/ports.ts"
import { type BrowserBench, startBrowserBench } from "../../test/support/browser-service.ts"
import { startPagesServer } from "../../test/support/pages-server.ts"
import type { Bench, Figure } from "../figure.ts"
import { count } from "./figures.ts"
import { rows, traveller } from "./pages.ts"
import { inProcess } from "./process.ts"
import { hidden, large, medium, moving, show, small } from "./stages.ts"

/** As a provider is sent it; models' tokenizers make roughly a token of four such characters. */
function schemaTokens({ service }: BrowserBench): Figure {
  const { name, description, inputSchema } = service.tool
  const tokens = Math.ceil(JSON.stringify({ name, description, inputSchema }).length / 4)
  return count("tokens of the tool's schema, as the model sees it", tokens, 1_600)
}

/** The browser as it always runs, driven through its pipe, and a port besides on which the bench takes the floor. */
async function withSecondDoor(folder: string): Promise<{ path: string; port: number }> {
  const port = await findFreePort({ range: cdpPortRange(0), preferred: undefined, taken: new Set() })
  const path = join(folder, "browser.sh")
  await writeFile(path, `#!/bin/sh\nexec chromium "$@" --remote-debugging-port=${port}\n`, { mode: 0o755 })
  return { path, port }
}

async function run(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), "svc-bench-pages-"))
  writeFileSync(join(folder, "rows.html"), rows)
  writeFileSync(join(folder, "moving.html"), traveller)
  const own = await startPagesServer({ folder })
  const fixtures = await startPagesServer({ folder: join(import.meta.dirname, "../../test/fixtures/pages") })
  const { path, port } = await withSecondDoor(folder)
  const bench = await startBrowserBench({ executablePath: path })
  const [mediumUrl, largeUrl] = [`${fixtures.url}/controls.html?n=500`, `${own.url}/rows.html`]
  const figures: Figure[] = []
  try {
    const stages = [
      { url: mediumUrl, measure: medium },
      { url: `${fixtures.url}/forms.html`, measure: small },
      { url: `${own.url}/moving.html`, measure: moving },
      { url: largeUrl, measure: large },
      { url: `${fixtures.url}/reach.html`, measure: hidden },
    ]
    for (const { url, measure } of stages) {
      const stage = await show(bench, port, url)
      figures.push(...(await measure(stage)))
      stage.raw.close()
    }
    figures.push(schemaTokens(bench))
    await bench.stop()
    return [...figures, ...(await inProcess({ medium: mediumUrl, large: largeUrl }))]
  } finally {
    await bench.stop()
    await own.stop()
    await fixtures.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

export const browser: Bench = { name: "browser", run }
