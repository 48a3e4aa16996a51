// Versions of this program as packages: the present one under another number, with what a test wants to be different in it.
import { readFileSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { packStaged, stagePackage } from "../../scripts/release/package.ts"
import { temporaryFolder } from "./temporary.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** The path of the tarball; `change` gets the folder of the package before it is packed. */
export function packVersion(version: string, change: (folder: string) => void = () => undefined): string {
  const folder = temporaryFolder()
  stagePackage({ root, folder: join(folder, "package"), version })
  change(join(folder, "package"))
  return packStaged(join(folder, "package"), folder)
}

/** Adds a last migration, by the body of its function of `db`, to every bundle that migrates. */
export function addMigration(folder: string, name: string, body: string): void {
  const start = "var migrations = {"
  replaceInBundles(folder, start, `${start} ${JSON.stringify(name)}: { up: async (db) => { ${body} } },`)
}

/** Ends the gateway when all of it has been started, and before anybody learns that it has. */
export function endBeforeReady(folder: string): void {
  const last = "writeGatewayFile(stateFolder, file"
  replaceInBundles(folder, last, `process.exit(3); ${last}`)
}

/** Puts a line before everything else that the gateway's bundle does. */
export function atGatewayStart(folder: string, line: string): void {
  const file = join(folder, "dist", "gateway.mjs")
  writeFileSync(file, `${line}\n${readFileSync(file, "utf8")}`)
}

function replaceInBundles(folder: string, from: string, to: string): void {
  const files = ["dist", join("dist", "chunks")].flatMap((place) =>
    readdirSync(join(folder, place))
      .filter((file) => file.endsWith(".mjs"))
      .map((file) => join(folder, place, file)),
  )
  const holding = files.filter((file) => readFileSync(file, "utf8").includes(from))
  if (holding.length === 0) throw new Error(`no bundle holds: ${from}`)
  for (const file of holding)
    writeFileSync(
      file,
      readFileSync(file, "utf8").replace(from, () => to),
    )
}
