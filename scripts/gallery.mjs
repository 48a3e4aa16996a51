// Installs the packages of the gallery, which are its own, when they are not there yet; then runs it with the words given.
import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), "test", "gallery")
const lock = readFileSync(join(folder, "package-lock.json"), "utf8")
const stamp = join(folder, "node_modules", ".installed")

const run = (command, args) => {
  const { status } = spawnSync(command, args, { cwd: folder, stdio: "inherit" })
  if (status !== 0) process.exit(status ?? 1)
}

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lock) {
  process.stderr.write("gallery: installing its packages, about 1 GB (npm install --ignore-scripts)\n")
  // Not `npm ci`: it wants entries in the lockfile for builds of one library on other systems, which npm leaves out.
  run("npm", ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"])
  writeFileSync(stamp, lock)
}
run(process.execPath, [join(folder, "main.ts"), ...process.argv.slice(2)])
