// The command line of a managed browser.
import { metadataPatterns } from "../page/policy/addresses.ts"

export interface LaunchArguments {
  /** How it is spoken to: through a pipe, which is nobody else's, or on a port of 127.0.0.1. */
  way: { kind: "pipe" } | { kind: "port"; port: number }
  /** Address of the proxy for all that its pages ask for; undefined leaves the browser its own way to the network. */
  proxy: string | undefined
  userDataFolder: string
  headless: boolean
  noSandbox: boolean
  platform: NodeJS.Platform
}

export function browserArguments(options: LaunchArguments): string[] {
  return [
    // Without an address Chromium listens on 127.0.0.1 only, and takes no page's WebSocket but that of its own address.
    options.way.kind === "pipe" ? "--remote-debugging-pipe" : `--remote-debugging-port=${options.way.port}`,
    ...(options.proxy === undefined ? [] : throughProxy(options.proxy)),
    `--user-data-dir=${options.userDataFolder}`,
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
    // DeferRendererTasksAfterInput holds a page's tasks back for 50 ms after each input, which every action would wait
    // for. WebUIOmnibox… is the address bar's list, a page of 160 files that is loaded anew for every window.
    `--disable-features=${["Translate", "MediaRouter", "DeferRendererTasksAfterInput", ...(options.headless ? ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"] : [])].join(",")}`,
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

/**
 * http, https and every WebSocket go through the proxy, addresses of this machine too. What is looked up beside it (for
 * WebRTC, say) does not find the addresses of metadata services.
 */
function throughProxy(proxy: string): string[] {
  const { host } = new URL(proxy)
  return [
    `--proxy-server=http=${host};https=${host}`,
    "--proxy-bypass-list=<-loopback>",
    `--host-resolver-rules=${metadataPatterns.map((pattern) => `MAP ${pattern} ~NOTFOUND`).join(",")}`,
  ]
}

/** The port of the proxy that a browser was started with. */
export function proxyPortOf(commandLine: string): number | undefined {
  const port = /--proxy-server=http=127\.0\.0\.1:(\d{1,5})\b/.exec(commandLine)?.[1]
  return port === undefined ? undefined : Number(port)
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
