// Writes src/models/known/table.ts and docs/reference/models.md from scripts/known-models/*.json:
// node scripts/generate-model-table.ts
import { writeFileSync } from "node:fs"
import { readKnownModels } from "./known-models/read.ts"
import { renderModelReference, renderModelTable } from "./known-models/render.ts"

const sources = readKnownModels()
writeFileSync(new URL("../src/models/known/table.ts", import.meta.url), renderModelTable(sources))
writeFileSync(new URL("../docs/reference/models.md", import.meta.url), renderModelReference(sources))
