// Makes one script and one stylesheet of each page with the libraries that it shows.
import { cpSync, mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { build } from "esbuild"

const folder = import.meta.dirname
const pages = join(folder, "pages")
export const built = join(folder, "dist")

/** Pages that are no page of their own. */
const shared = new Set(["jquery"])

/** Returns the names of the pages. */
export async function buildPages(): Promise<string[]> {
  const names = readdirSync(pages)
    .map((file) => file.replace(/\.js$/, ""))
    .filter((name) => !shared.has(name))
  const data = Object.fromEntries(
    [".ttf", ".woff", ".woff2", ".eot", ".svg", ".png", ".gif"].map((end) => [end, "dataurl" as const]),
  )
  await build({
    entryPoints: names.map((name) => join(pages, `${name}.js`)),
    outdir: built,
    bundle: true,
    format: "esm",
    minify: true,
    loader: data,
    define: {
      "process.env.NODE_ENV": '"production"',
      "process.env": "{}",
      __VUE_OPTIONS_API__: "true",
      __VUE_PROD_DEVTOOLS__: "false",
    },
    logLevel: "error",
  })
  mkdirSync(join(built, "files"), { recursive: true })
  cpSync(join(folder, "node_modules/pdfjs-dist/build/pdf.worker.mjs"), join(built, "files/pdf.worker.mjs"))
  return names.toSorted()
}
