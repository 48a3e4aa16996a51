// Which release this is.
import { readFileSync } from "node:fs"

/** Of the package that this file is shipped in; the bundle stands in `dist`, the source in `src/main`. */
export function version(): string {
  const versions = ["../package.json", "../../package.json"].map((path) => readVersion(new URL(path, import.meta.url)))
  return versions.find((found) => found !== undefined) ?? "unknown"
}

function readVersion(url: URL): string | undefined {
  try {
    const content = JSON.parse(readFileSync(url, "utf8")) as { name?: string; version?: string }
    return content.name === "svc-gateway" ? content.version : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}
