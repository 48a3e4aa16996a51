// Playwright's own MCP server, as its makers ship it, with the same browser.
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Hand, Outcome } from "../hand.ts"
import { McpClient } from "./mcp-client.ts"

export async function playwrightHand(): Promise<Hand> {
  const program = join(import.meta.dirname, "../node_modules/.bin/playwright-mcp")
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : []
  const folder = join(import.meta.dirname, "../dist/playwright-mcp")
  mkdirSync(folder, { recursive: true })
  const browser = ["--headless", "--isolated", ...sandbox, "--executable-path", "/usr/bin/chromium"]
  const client = new McpClient(program, [...browser, "--output-dir", folder], folder)
  await client.start()
  const spent = { calls: 0, chars: 0 }
  const call = async (name: string, input: object): Promise<Outcome> => {
    spent.calls += 1
    const { text, isError } = await client.call(name, input)
    spent.chars += text.length
    return { ok: !isError, said: text }
  }
  return {
    name: "Playwright MCP",
    spent,
    async open(url) {
      const { ok, said } = await call("browser_navigate", { url })
      if (!ok) throw new Error(said)
    },
    async look() {
      return (await call("browser_snapshot", {})).said
    },
    click: (target, { double = false } = {}) =>
      call("browser_click", { element: "it", target, ...(double ? { doubleClick: true } : {}) }),
    type: (target, text) => call("browser_type", { element: "it", target, text }),
    press: (key) => call("browser_press_key", { key }),
    drag: (startTarget, endTarget) =>
      call("browser_drag", { startElement: "it", endElement: "there", startTarget, endTarget }),
    select: (target, value) => call("browser_select_option", { element: "it", target, values: [value] }),
    async scroll(target) {
      // It has no tool for this: an agent hovers over what scrolls and turns to the keys.
      if (target !== undefined) await call("browser_hover", { element: "it", target })
      return call("browser_press_key", { key: "PageDown" })
    },
    async isDone() {
      const { text } = await client.call("browser_evaluate", { function: "() => globalThis.isDone()" })
      return /### Result\s+true/.test(text)
    },
    stop: () => client.stop(),
  }
}
