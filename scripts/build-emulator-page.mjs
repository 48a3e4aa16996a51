// Builds the emulator's chat page: emulator/page/client/ -> { script, style }.
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "esbuild"

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** @returns {Promise<{ script: string, style: string }>} */
export async function bundleEmulatorPage() {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { page: "emulator/page/client/main.tsx", style: "emulator/page/client/style.css" },
    outdir: "emulator-page",
    write: false,
    bundle: true,
    format: "iife",
    target: ["chrome123", "firefox128", "safari17.5"],
    jsx: "automatic",
    jsxImportSource: "preact",
    tsconfigRaw: {},
    conditions: ["browser"],
    minify: true,
    charset: "utf8",
    legalComments: "none",
    logLevel: "warning",
  })
  const textOf = (ending) => outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? ""
  return { script: textOf(".js"), style: textOf(".css") }
}

export async function buildEmulatorPage(output) {
  const { script, style } = await bundleEmulatorPage()
  mkdirSync(output, { recursive: true })
  writeFileSync(join(output, "page.js"), script)
  writeFileSync(join(output, "style.css"), style)
}
