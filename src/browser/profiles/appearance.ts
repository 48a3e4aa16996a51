// The tint of a managed browser's window and the name it goes by, written into its folder the way Chromium keeps them,
// and the mark of a clean end, so that no bubble asks about the last one. Chromium derives everything else from it.
// What was typed on one site it neither keeps nor offers to others: a page could be given it by keys that only choose.
// Only while no browser works in the folder: it would write its own state over ours.
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { isJsonObject, type Json, type JsonObject, writeDurableFile } from "../../kernel/index.ts"

export interface Appearance {
  name: string
  /** `#RRGGBB` */
  color: string
}

/** Writes what differs; a file that is damaged is left to Chromium, which starts it anew. */
export async function paintProfile(userDataFolder: string, appearance: Appearance): Promise<void> {
  const path = join(userDataFolder, "Default", "Preferences")
  const before = await readPreferences(path)
  if (before === undefined) return
  const after = paintPreferences(before, appearance)
  if (JSON.stringify(after) === JSON.stringify(before)) return
  await writeDurableFile(path, JSON.stringify(after))
}

/** A theme made of one colour: Chromium paints tab strip and toolbar in shades of it. */
export function paintPreferences(preferences: JsonObject, { name, color }: Appearance): JsonObject {
  return merge(preferences, {
    browser: { theme: { user_color2: signedColor(color), color_variant2: 1, follows_system_colors: false } },
    extensions: { theme: { id: "user_color_theme_id", system_theme: 0 } },
    profile: { name, exit_type: "Normal", exited_cleanly: true },
    autofill: { profile_enabled: false, credit_card_enabled: false },
  })
}

/** Chromium keeps colours as ARGB in a signed number of 32 bits. */
export function signedColor(color: string): number {
  return 0xff000000 | Number.parseInt(color.slice(1), 16) | 0
}

function merge(base: JsonObject, changes: JsonObject): JsonObject {
  const merged: JsonObject = { ...base }
  for (const [name, change] of Object.entries(changes)) {
    const before: Json | undefined = merged[name]
    merged[name] = isJsonObject(change) ? merge(isJsonObject(before) ? before : {}, change) : change
  }
  return merged
}

/** Empty when there are none yet; undefined when it is not what Chromium writes. */
async function readPreferences(path: string): Promise<JsonObject | undefined> {
  let text: string
  try {
    text = await readFile(path, "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {}
    throw error
  }
  try {
    const preferences: unknown = JSON.parse(text)
    return isJsonObject(preferences) ? preferences : undefined
  } catch {
    return undefined
  }
}
