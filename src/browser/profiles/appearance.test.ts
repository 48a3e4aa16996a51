// What is written into a managed browser's preferences, beside all that it keeps there itself.
import assert from "node:assert/strict"
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../../test/support/temporary.ts"
import { paintProfile } from "./appearance.ts"

test("writes the tint, the name and a clean end among what the browser keeps, and nothing where all is so already", async () => {
  const folder = temporaryFolder()
  const path = join(folder, "Default", "Preferences")
  mkdirSync(join(folder, "Default"))
  const kept = {
    browser: { theme: { color_scheme: 2, user_color2: 1 }, window_placement: { top: 5 } },
    extensions: { settings: { a: 1 }, theme: "from long ago" },
    profile: { name: "Person 1", exit_type: "Crashed", exited_cleanly: false, avatar_index: 3 },
    autofill: { profile_enabled: true },
    zoom: [1],
  }
  writeFileSync(path, JSON.stringify(kept))
  await paintProfile(folder, { name: "work", color: "#FF4500" })
  const painted = {
    browser: {
      theme: { color_scheme: 2, user_color2: -47_872, color_variant2: 1, follows_system_colors: false },
      window_placement: { top: 5 },
    },
    extensions: { settings: { a: 1 }, theme: { id: "user_color_theme_id", system_theme: 0 } },
    profile: { name: "work", exit_type: "Normal", exited_cleanly: true, avatar_index: 3 },
    autofill: { profile_enabled: false, credit_card_enabled: false },
    zoom: [1],
  }
  assert.deepEqual(JSON.parse(readFileSync(path, "utf8")), painted)
  // Written anew it would be another file.
  const { ino } = statSync(path)
  await paintProfile(folder, { name: "work", color: "#FF4500" })
  assert.equal(statSync(path).ino, ino)
})

test("makes the preferences of a first start, and leaves what nobody can read to the browser", async () => {
  const first = temporaryFolder()
  await paintProfile(first, { name: "new", color: "#000001" })
  const { profile, browser } = JSON.parse(readFileSync(join(first, "Default", "Preferences"), "utf8"))
  assert.deepEqual([profile.name, browser.theme.user_color2], ["new", -16_777_215])
  for (const text of ["{ damaged", "[]", '"words"']) {
    writeFileSync(join(first, "Default", "Preferences"), text)
    await paintProfile(first, { name: "new", color: "#000001" })
    assert.equal(readFileSync(join(first, "Default", "Preferences"), "utf8"), text)
  }
})
