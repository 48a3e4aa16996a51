// Writes docs/reference/chat-commands.md from the commands themselves: node scripts/generate-command-docs.ts
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { renderCommandReference } from "../src/channels/commands/reference.ts"

const file = join(dirname(fileURLToPath(import.meta.url)), "..", "docs", "reference", "chat-commands.md")
mkdirSync(dirname(file), { recursive: true })
writeFileSync(file, renderCommandReference())
