// Writes docs/reference/browser-api.md from the routes of the control service: node scripts/generate-browser-api-docs.ts
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { renderBrowserApi } from "../src/browser/openapi/reference.ts"
import { controlRoutes } from "../src/browser/routes/all.ts"

const file = join(dirname(fileURLToPath(import.meta.url)), "..", "docs", "reference", "browser-api.md")
mkdirSync(dirname(file), { recursive: true })
writeFileSync(file, renderBrowserApi(controlRoutes))
