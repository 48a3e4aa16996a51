import assert from "node:assert/strict"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../../../test/support/temporary.ts"
import { AppError } from "../../../kernel/index.ts"
import { detectBrowser, type Machine, rememberDetection, systemMachine } from "./index.ts"
import { kindOfName } from "./kinds.ts"
import { programOfEntry } from "./linux.ts"
import { handlerOf } from "./macos.ts"
import { programOfCommand, registryValue } from "./windows.ts"

interface Setting {
  platform: NodeJS.Platform
  files?: string[]
  texts?: Record<string, string>
  environment?: Record<string, string>
  /** Output by the command line's beginning. */
  commands?: Record<string, string>
}

function machine(setting: Setting): Machine {
  return {
    platform: setting.platform,
    homeFolder: setting.platform === "darwin" ? "/Users/ada" : "/home/ada",
    environment: setting.environment ?? {},
    isExecutable: (path) => setting.files?.includes(path) ?? false,
    readText: (path) => setting.texts?.[path],
    async run(command, args) {
      const line = [command, ...args].join(" ")
      return Object.entries(setting.commands ?? {}).find(([start]) => line.startsWith(start))?.[1]
    },
  }
}

test("takes the configured program, and never another in its place", async () => {
  const linux = machine({ platform: "linux", files: ["/opt/thing/browser", "/usr/bin/chromium"] })
  assert.deepEqual(await detectBrowser(linux, "/opt/thing/browser"), { kind: "custom", path: "/opt/thing/browser" })
  await assert.rejects(
    detectBrowser(linux, "/opt/none"),
    (error) =>
      error instanceof AppError && error.code === "browser-not-found" && /Correct the path/.test(error.hint ?? ""),
  )
})

test("Linux: prefers the desktop's default browser when it speaks CDP", async () => {
  const setting: Setting = {
    platform: "linux",
    files: ["/usr/bin/google-chrome", "/usr/bin/brave-browser-stable"],
    commands: { "xdg-settings get": "brave-browser.desktop\n" },
    texts: {
      "/usr/share/applications/brave-browser.desktop":
        "[Desktop Entry]\nExec=env A=1 /usr/bin/brave-browser-stable %U\n",
    },
  }
  assert.deepEqual(await detectBrowser(machine(setting), undefined), {
    kind: "brave",
    path: "/usr/bin/brave-browser-stable",
  })
  const other = { ...setting, commands: { "xdg-settings get": "firefox.desktop\n" } }
  assert.deepEqual(await detectBrowser(machine(other), undefined), { kind: "chrome", path: "/usr/bin/google-chrome" })
})

test("Linux: finds the entry of the default browser wherever it stands, the person's own first, by either helper", async () => {
  const files = ["/usr/bin/google-chrome", "/opt/brave/brave", "/opt/mine/brave"]
  const folders = [
    "/home/ada/.local/share/applications",
    "/usr/local/share/applications",
    "/usr/share/applications",
    "/var/lib/snapd/desktop/applications",
  ]
  const detect = async (helper: string, texts: Record<string, string>, id = "brave-browser.desktop") =>
    (await detectBrowser(machine({ platform: "linux", files, texts, commands: { [helper]: `${id}\n` } }), undefined))
      .path
  for (const helper of ["xdg-settings get default-web-browser", "xdg-mime query default x-scheme-handler/http"]) {
    for (const folder of folders)
      assert.equal(await detect(helper, { [`${folder}/brave-browser.desktop`]: "Exec=/opt/brave/brave" }), files[1])
  }
  const both = Object.fromEntries(
    folders.map((folder, at) => [
      `${folder}/brave-browser.desktop`,
      at === 0 ? "Exec=/opt/mine/brave" : "Exec=/opt/brave/brave",
    ]),
  )
  assert.equal(await detect("xdg-settings", both), "/opt/mine/brave")
  // No name of an entry, but a way to a file elsewhere.
  const outside = "../../tmp/brave.desktop"
  assert.equal(
    await detect("xdg-settings", { [`/usr/share/applications/${outside}`]: "Exec=/opt/brave/brave" }, outside),
    files[0],
  )
})

test("Linux: searches PATH, in the fixed order of browsers", async () => {
  const linux = machine({
    platform: "linux",
    environment: { PATH: "relative:/home/ada/bin:/usr/bin" },
    files: ["/home/ada/bin/microsoft-edge", "/usr/bin/chromium", "/snap/bin/brave"],
  })
  assert.deepEqual(await detectBrowser(linux, undefined), { kind: "brave", path: "/snap/bin/brave" })
  const relative = machine({
    platform: "linux",
    environment: { PATH: "bin:/usr/bin" },
    files: ["bin/google-chrome", "/usr/bin/chromium"],
  })
  assert.equal((await detectBrowser(relative, undefined)).path, "/usr/bin/chromium", "not whatever stands below us")
})

test("macOS: the default handler of http, then the application folders", async () => {
  const handlers = JSON.stringify({
    LSHandlers: [{ LSHandlerURLScheme: "https", LSHandlerRoleAll: "com.microsoft.edgemac" }],
  })
  const edge = "/Applications/Microsoft Edge.app"
  const mac: Setting = {
    platform: "darwin",
    files: [
      `${edge}/Contents/MacOS/Microsoft Edge`,
      "/Users/ada/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    ],
    commands: { "/usr/bin/plutil": handlers, "/usr/bin/mdfind": `${edge}\n`, "/usr/bin/defaults": "Microsoft Edge\n" },
  }
  assert.equal((await detectBrowser(machine(mac), undefined)).kind, "edge")
  assert.equal((await detectBrowser(machine({ ...mac, commands: {} }), undefined)).kind, "chrome")
  assert.equal(handlerOf("not json"), undefined)
  const two = [
    { LSHandlerURLScheme: "https", LSHandlerRoleAll: "com.brave.Browser" },
    { LSHandlerURLScheme: "http", LSHandlerRoleAll: "com.microsoft.edgemac" },
  ]
  assert.equal(handlerOf(JSON.stringify({ LSHandlers: two })), "com.microsoft.edgemac")
  // What else bears the name is no program, and no name may say more than a name.
  const more = { ...mac.commands, "/usr/bin/mdfind": `/Library/Edge.bundle\n${edge}\n` }
  assert.equal((await detectBrowser(machine({ ...mac, commands: more }), undefined)).kind, "edge")
  const words = handlers.replace("edgemac", 'edgemac\\" || \\"x')
  assert.match(handlerOf(words) ?? "", /" \|\| "x$/)
  const strange = machine({ ...mac, commands: { ...mac.commands, "/usr/bin/plutil": words } })
  assert.equal((await detectBrowser(strange, undefined)).kind, "chrome")
})

test("Windows: the user's choice, then the install folders in brand order", async () => {
  const windows: Setting = {
    platform: "win32",
    environment: { LOCALAPPDATA: "C:\\Users\\ada\\AppData\\Local", ProgramFiles: "C:\\Program Files" },
    files: [
      "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
      "C:\\Users\\ada\\AppData\\Local\\BraveSoftware\\Brave-Browser\\Application\\brave.exe",
    ],
  }
  assert.equal((await detectBrowser(machine(windows), undefined)).kind, "chrome")
  const chosen = {
    "reg query HKCU": "\r\n    ProgId    REG_SZ    BraveHTML.ABC\r\n",
    "reg query HKCR":
      '\r\n    (Default)    REG_SZ    "%LOCALAPPDATA%\\BraveSoftware\\Brave-Browser\\Application\\brave.exe" --single-argument %1\r\n',
  }
  assert.equal((await detectBrowser(machine({ ...windows, commands: chosen }), undefined)).kind, "brave")
  const expanded = { ...chosen, "reg query HKCR": chosen["reg query HKCR"].replace("REG_SZ", "REG_EXPAND_SZ") }
  assert.equal((await detectBrowser(machine({ ...windows, commands: expanded }), undefined)).kind, "brave")
  assert.equal(registryValue("nothing"), undefined)
  assert.equal(programOfCommand("C:\\x.exe -url", {}), "C:\\x.exe")
})

test("says what to do when there is no browser", async () => {
  await assert.rejects(
    detectBrowser(machine({ platform: "linux" }), undefined),
    (error) => error instanceof AppError && /executablePath/.test(error.hint ?? ""),
  )
})

test("reads the program of a desktop entry past env, assignments and quotes", () => {
  assert.equal(programOfEntry('[Desktop Entry]\nExec="/opt/My Browser/chrome" %U'), "/opt/My Browser/chrome")
  assert.equal(programOfEntry("Exec=/usr/bin/env LANG=C chromium --x %u"), "chromium")
  assert.equal(programOfEntry(String.raw`Exec="/opt/My \"own\" \$/chrome" %U`), '/opt/My "own" $/chrome')
  assert.equal(programOfEntry("Name=x"), undefined)
})

test("each system: Chrome, Brave, Edge, Chromium and Chrome Canary, in this order whatever the place", async () => {
  const programs: Record<string, { environment?: Record<string, string>; files: string[] }> = {
    linux: {
      environment: { PATH: "/home/ada/bin:/usr/bin" },
      files: [
        "/opt/google/chrome/google-chrome",
        "/snap/bin/brave",
        "/usr/bin/microsoft-edge",
        "/home/ada/bin/chromium",
        "/home/ada/bin/google-chrome-unstable",
      ],
    },
    darwin: {
      files: ["Google Chrome", "Brave Browser", "Microsoft Edge", "Chromium", "Google Chrome Canary"].map(
        (name, index) => `${index % 2 === 0 ? "/Users/ada" : ""}/Applications/${name}.app/Contents/MacOS/${name}`,
      ),
    },
    win32: {
      environment: { LOCALAPPDATA: "C:\\Local", ProgramFiles: "C:\\Programs", "ProgramFiles(x86)": "C:\\X86" },
      files: [
        "C:\\X86\\Google\\Chrome\\Application\\chrome.exe",
        "C:\\Programs\\BraveSoftware\\Brave-Browser\\Application\\brave.exe",
        "C:\\X86\\Microsoft\\Edge\\Application\\msedge.exe",
        "C:\\Local\\Chromium\\Application\\chrome.exe",
        "C:\\Local\\Google\\Chrome SxS\\Application\\chrome.exe",
      ],
    },
  }
  for (const [platform, { environment = {}, files }] of Object.entries(programs)) {
    const found: (string | undefined)[] = []
    for (let missing = 0; missing < files.length; missing += 1) {
      const setting = { platform: platform as NodeJS.Platform, environment, files: files.slice(missing) }
      const detected = await detectBrowser(machine(setting), undefined)
      assert.equal(detected.path, files[missing])
      found.push(detected.kind)
    }
    assert.deepEqual(found, ["chrome", "brave", "edge", "chromium", "canary"], platform)
  }
})

test("each system: a default browser that does not speak CDP, or is not there, is passed over", async () => {
  const chrome = {
    linux: "/usr/bin/google-chrome",
    darwin: "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    win32: "C:\\Local\\Google\\Chrome\\Application\\chrome.exe",
  }
  const defaults: [NodeJS.Platform, Record<string, string>][] = [
    ["linux", { "xdg-mime query": "firefox_firefox.desktop\n" }],
    ["linux", { "xdg-settings get": "brave-browser.desktop\n" }],
    ["linux", { "xdg-settings get": "../../evil.desktop\n" }],
    [
      "darwin",
      { "/usr/bin/plutil": '{"LSHandlers":[{"LSHandlerURLScheme":"http","LSHandlerRoleAll":"com.apple.safari"}]}' },
    ],
    [
      "darwin",
      { "/usr/bin/plutil": '{"LSHandlers":[{"LSHandlerURLScheme":"http","LSHandlerRoleAll":"com.brave.Browser"}]}' },
    ],
    ["win32", { "reg query HKCU": "\r\n    ProgId    REG_SZ    FirefoxURL-308046B0AF4A39CB\r\n" }],
    ["win32", { "reg query HKCU": "\r\n    ProgId    REG_SZ    BraveHTML\r\n" }],
  ]
  for (const [platform, commands] of defaults) {
    const path = chrome[platform as keyof typeof chrome]
    const setting = { platform, commands, files: [path], environment: { LOCALAPPDATA: "C:\\Local" } }
    assert.deepEqual(
      await detectBrowser(machine(setting), undefined),
      { kind: "chrome", path },
      JSON.stringify(commands),
    )
  }
})

test("is asked again and again without asking the system each time, but never keeps that there is none", async () => {
  const files: string[] = []
  const linux = machine({ platform: "linux", files })
  let asked = 0
  const run: Machine["run"] = (command, args) => {
    asked += 1
    return linux.run(command, args)
  }
  let now = 0
  const detect = rememberDetection({ ...linux, run }, () => now)
  await assert.rejects(detect(undefined), { code: "browser-not-found" })
  files.push("/usr/bin/chromium")
  const before = asked
  for (let time = 0; time < 3; time += 1) assert.equal((await detect(undefined)).path, "/usr/bin/chromium")
  const once = asked - before
  assert.equal(once, before, "looked once")
  await assert.rejects(detect("/opt/none"), { code: "browser-not-found" })
  now += 60_000
  await detect(undefined)
  assert.equal(asked, before + 2 * once)
})

test("knows a browser by what each system calls it, and none that does not speak CDP", () => {
  const names: Record<string, string[]> = {
    chrome: ["google-chrome.desktop", "com.google.Chrome", "ChromeHTML", "chrome.exe"],
    brave: ["brave-browser.desktop", "com.brave.Browser", "BraveHTML"],
    edge: ["microsoft-edge.desktop", "com.microsoft.edgemac", "MSEdgeHTM", "msedge.exe"],
    chromium: [
      "chromium_chromium.desktop",
      "org.chromium.Chromium",
      "vivaldi-stable.desktop",
      "com.operasoftware.Opera",
      "ru.yandex.desktop.yandex-browser",
      "company.thebrowser.Browser",
      "Arc.exe",
    ],
    canary: ["com.google.Chrome.canary", "google-chrome-unstable.desktop", "chrome-dev", "ChromeSSHTM.X", "Chrome SxS"],
    none: ["firefox.desktop", "org.mozilla.firefox", "com.apple.safari", "search.desktop", "monarch"],
  }
  for (const [kind, all] of Object.entries(names))
    for (const name of all) assert.equal(kindOfName(name) ?? "none", kind, name)
})

test("takes for a program only a file that can be run, and nothing from a helper that fails", async () => {
  const folder = temporaryFolder()
  const { isExecutable, readText, run } = systemMachine({ homeFolder: folder, environment: {} })
  for (const [name, mode] of [
    ["program", 0o755],
    ["text", 0o644],
  ] as const)
    writeFileSync(join(folder, name), "#!/bin/sh\necho words; exit $1", { mode })
  mkdirSync(join(folder, "folder"))
  const found = ["program", "text", "folder", "nothing"].filter((name) => isExecutable(join(folder, name)))
  assert.deepEqual(found, ["program"])
  assert.match(readText(join(folder, "text")) ?? "", /words/)
  assert.equal(readText(join(folder, "nothing")), undefined)
  assert.equal(await run(join(folder, "program"), ["0"]), "words\n")
  assert.equal(await run(join(folder, "program"), ["1"]), undefined)
  assert.equal(await run(join(folder, "nothing"), []), undefined)
})
