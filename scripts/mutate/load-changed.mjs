// Loaded into the process of a test: gives it one source file with one change in it. Nothing on the disk is changed.
import { registerHooks } from "node:module"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const { file, start, end, replacement } = JSON.parse(process.env.SVC_MUTATION)

registerHooks({
  load(url, context, next) {
    if (!url.startsWith("file:") || fileURLToPath(url) !== file) return next(url, context)
    const text = readFileSync(file, "utf8")
    return {
      format: "module-typescript",
      source: text.slice(0, start) + replacement + text.slice(end),
      shortCircuit: true,
    }
  },
})
