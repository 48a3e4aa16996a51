// Writes docs/reference/cli.md from the commands themselves: node scripts/generate-cli-docs.ts
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { createContext } from "../cli/context.ts"
import { createOutput } from "../cli/output.ts"
import { renderReference } from "../cli/reference.ts"

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const path = join(root, "docs/reference/cli.md")
const context = createContext({
  environment: process.env,
  output: createOutput(process.env),
  programFile: join(root, "cli/main.ts"),
})
mkdirSync(dirname(path), { recursive: true })
writeFileSync(path, await renderReference(context))
