// Renews every generated page and table, one program after the other, and puts their layout right: npm run docs
import { spawnSync } from "node:child_process"
import { globSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = dirname(dirname(fileURLToPath(import.meta.url)))

function run(command: string, parameters: readonly string[]): void {
  const { status, error } = spawnSync(command, parameters, { cwd: root, stdio: "inherit" })
  if (error) throw new Error(`cannot run ${command}`, { cause: error })
  if (status !== 0) process.exit(status ?? 1)
}

for (const generator of globSync("scripts/generate-*.ts", { cwd: root }).toSorted()) {
  process.stdout.write(`${generator}\n`)
  run(process.execPath, [generator])
}
// The only result that is code; pages stay as their generators lay them out.
run(join(root, "node_modules", ".bin", "oxfmt"), ["src/models/known/table.ts"])
