// Which files an answer may send that no tool of its turn has made: an owner may have any of the media folder, where the
// answer is read by the owner alone, or was written from nobody else's words. The way out checks the file again, open.
import { statSync } from "node:fs"
import { isAbsolute, resolve, sep } from "node:path"
import type { TurnDelivery } from "../agent/index.ts"

/** The absolute path of what the answer names, relative to the media folder or absolute; undefined when it may not go. */
export function ownersFile(
  { input, isTainted }: Pick<TurnDelivery, "input" | "isTainted">,
  named: string,
  mediaRoot: string | undefined,
): string | undefined {
  if (mediaRoot === undefined || input.origin !== "owner" || !input.trusted || input.route === null) return undefined
  if (isTainted !== false && input.route.chatKind !== "private") return undefined
  const path = isAbsolute(named) ? resolve(named) : resolve(mediaRoot, named)
  if (!path.startsWith(mediaRoot + sep)) return undefined
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? path : undefined
}
