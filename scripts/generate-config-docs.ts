// Writes docs/reference/config.md from the configuration's schema. Run it after every change of a key:
// node scripts/generate-config-docs.ts
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { renderConfigReference } from "../src/config/reference.ts"

const file = join(dirname(fileURLToPath(import.meta.url)), "..", "docs", "reference", "config.md")
mkdirSync(dirname(file), { recursive: true })
writeFileSync(file, renderConfigReference())
