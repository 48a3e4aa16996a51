// The command line of a managed browser.

export interface LaunchArguments {
  port: number
  userDataFolder: string
  headless: boolean
  noSandbox: boolean
  platform: NodeJS.Platform
}

export function browserArguments(options: LaunchArguments): string[] {
  return [
    // Without an address Chromium listens on 127.0.0.1 only.
    `--remote-debugging-port=${options.port}`,
    `--user-data-dir=${options.userDataFolder}`,
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    // The last one holds a page's tasks back for 50 ms after each input, which every action would wait for.
    "--disable-features=Translate,MediaRouter,DeferRendererTasksAfterInput",
    "--disable-session-crashed-bubble",
    "--hide-crash-restore-bubble",
    "--disable-breakpad",
    "--password-store=basic",
    ...(options.platform === "darwin" ? ["--use-mock-keychain"] : []),
    ...(options.headless ? ["--headless=new", "--disable-gpu", "--window-size=1280,800"] : []),
    ...(options.noSandbox ? ["--no-sandbox", "--disable-setuid-sandbox"] : []),
    ...(options.platform === "linux" ? ["--disable-dev-shm-usage"] : []),
    "about:blank",
  ]
}

/** What a browser needs of our environment, and nothing more: keys and tokens stay with us. */
const passed =
  /^(HOME|USER|LOGNAME|PATH|LANG|LANGUAGE|LC_.+|TZ|TMPDIR|TMP|TEMP|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_.+|DBUS_SESSION_BUS_ADDRESS|FONTCONFIG_.+|GTK_.+|SYSTEMROOT|WINDIR|APPDATA|LOCALAPPDATA|PROGRAMDATA|PROGRAMFILES.*|USERPROFILE|HTTP_PROXY|HTTPS_PROXY|NO_PROXY)$/i

export function browserEnvironment(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && passed.test(entry[0]),
    ),
  )
}
