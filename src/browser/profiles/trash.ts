// Data of profiles is never removed, only moved: into a folder beside the profiles, on the same file system, under a name
// that no profile can have. Emptying it is for people.
import { lstat, mkdir, rename } from "node:fs/promises"
import { dirname, join } from "node:path"

/** Where it is now; undefined when there was nothing. A link is moved as a link: what it leads to stays where it is. */
export async function moveToTrash(
  path: string,
  options: { stateFolder: string; name: string; now: number },
): Promise<string | undefined> {
  try {
    await lstat(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
  const stamp = new Date(options.now).toISOString().replace(/\W/g, "")
  const to = join(options.stateFolder, "browser", ".trash", `${options.name}-${stamp}`)
  await mkdir(dirname(to), { recursive: true, mode: 0o700 })
  await rename(path, to)
  return to
}
