// Bundles the browser extension: its background and its options page, with the files that are copied as they are.
import { copyFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { build } from "esbuild"

const copied = ["manifest.json", "options.html", "options.css"]

export async function buildExtension(root: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true })
  await build({
    absWorkingDir: root,
    entryPoints: { worker: "extension/src/worker.ts", options: "extension/src/options.ts" },
    outdir: folder,
    bundle: true,
    format: "iife",
    platform: "browser",
    target: "chrome125",
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    logLevel: "warning",
  })
  for (const name of copied) copyFileSync(join(root, "extension", name), join(folder, name))
}
