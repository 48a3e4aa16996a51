// Commands about the extension that brings in the tabs of the person's own browser.
import { AppError } from "../../kernel/errors.ts"
import type { ExtensionInstalled, ExtensionPaired, ExtensionStatus } from "../contract.ts"
import { type CommandSpec, plain } from "./command.ts"

export const extensionCommands: CommandSpec[] = [
  {
    usage: "status",
    description: "Show whether the extension is installed, paired and connected, and which tabs are attached",
    example: "svc browser extension status",
    json: "ExtensionStatus",
    perform: async ({ send, io }) => {
      const reply = await send<ExtensionStatus>("GET", "/extension")
      return { reply, show: () => io.print(statusLines(reply, io.named).join("\n")) }
    },
  },
  {
    usage: "install",
    description: "Put the extension where your browser can load it from, and say how",
    example: "svc browser extension install",
    json: "ExtensionInstalled",
    perform: async ({ send, io }) => {
      const reply = await send<ExtensionInstalled>("POST", "/extension/install", { body: {} })
      return { reply, show: () => showInstalled(reply, io) }
    },
  },
  {
    usage: "path",
    description: "Print the folder that your browser loads the extension from",
    example: "svc browser extension path",
    json: "ExtensionStatus",
    perform: async ({ send, io }) => {
      const reply = await send<ExtensionStatus>("GET", "/extension")
      const { path } = reply
      if (path === null) {
        throw new AppError("not-found", "The extension is not installed", {
          hint: "Run: svc browser extension install",
        })
      }
      return { reply, show: () => io.print(path) }
    },
  },
  {
    usage: "pair",
    description: "Make a new pairing code; the browser that was paired before is not any more",
    example: "svc browser extension pair",
    json: "ExtensionPaired",
    perform: async ({ send, io }) => {
      const reply = await send<ExtensionPaired>("POST", "/extension/pair", { body: {} })
      return {
        reply,
        show() {
          io.print(reply.code)
          io.note("Paste it into the extension's options (right click on its button, Options). It is not shown again.")
        },
      }
    },
  },
]

function showInstalled(
  { path }: ExtensionInstalled,
  io: { print(text: string): void; note(text: string): void },
): void {
  io.print(path)
  io.note("1. Open chrome://extensions and switch on Developer mode.")
  io.note("2. Press Load unpacked and choose this folder. After an update press the reload sign there instead.")
  io.note("3. Run svc browser extension pair, and paste the code into the options that have opened.")
  io.note("4. Pin the button to the toolbar. Press it in a tab to attach that tab, and again to detach it.")
}

const toInstall = "no: svc browser extension install"
const toPair = "no: svc browser extension pair"
const waits = "not yet: paste the code into the extension's options (a new one: svc browser extension pair)"

function statusLines(status: ExtensionStatus, named: (text: string) => string): string[] {
  const { path, installedVersion, shippedVersion, paired, codeWaits, connected, version, port, problem, tabs } = status
  const isOld = installedVersion !== null && shippedVersion !== null && installedVersion !== shippedVersion
  const update = isOld ? named(`; ${shippedVersion} came with this release: svc browser extension install`) : ""
  return [
    `installed: ${path === null ? named(toInstall) : `${path} (${installedVersion}${update})`}`,
    `paired: ${paired ? "yes" : named(codeWaits ? waits : toPair)}`,
    `relay: ${problem ?? `127.0.0.1:${port}`}`,
    `connected: ${connected ? `yes (${version})` : "no; it connects when you press its button in a tab"}`,
    ...(connected ? tabs : []).map(({ targetId, title, url, by }) => {
      const opened = by === "person" ? "" : ` [opened by the ${by}]`
      return `tab: ${plain(title) || "(untitled)"} ${plain(url)} ${targetId}${opened}`
    }),
  ]
}
