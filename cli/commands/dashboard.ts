// `svc dashboard`: a link that signs a browser in to the page, opened at once where there is a desktop.
import { spawn } from "node:child_process"
import type { Command } from "commander"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"
import { drawQrCode } from "../qr-code.ts"
import { describeTime } from "../time.ts"

interface DashboardOptions extends GatewayOptions {
  open: boolean
}

interface Link {
  url: string
  /** Addresses for other devices. */
  others: string[]
  expiresAt: number
  scopes: string[]
}

export function addDashboard(program: Command, context: CliContext): void {
  const dashboard = program
    .command("dashboard")
    .description("Open the gateway's page in the browser, signed in by a link that works once")
  addGatewayOptions(dashboard)
    .option("--no-open", "print the link and open nothing")
    .action(async (options: DashboardOptions) => {
      const makeLink = () =>
        connectGateway(context, options).call("POST", "/api/page/links", { body: {} }) as Promise<Link>
      const link = await makeLink()
      if (options.json) return context.output.json(link)
      const { output } = context
      output.line(link.url)
      const opens = options.open && process.stdout.isTTY && hasDesktop(context.environment)
      // A link works once: the browser here and the phone need one each.
      const { others } = link.others.length > 0 && opens ? await makeLink() : link
      for (const other of others) output.line(other)
      if (others[0] !== undefined && process.stdout.isTTY) output.write(`\n${drawQrCode(others[0])}\n`)
      output.note(
        `The link works once, until ${describeTime(link.expiresAt)}. Whoever opens it can do: ${link.scopes.join(", ")}`,
      )
      if (opens && openBrowser(link.url)) output.note("Opened in the browser.")
    })
  addExamples(dashboard, "svc dashboard", "svc dashboard --no-open", "svc dashboard --json")
}

function hasDesktop(environment: NodeJS.ProcessEnv): boolean {
  if (process.platform === "darwin" || process.platform === "win32") return true
  return Boolean(environment["DISPLAY"] || environment["WAYLAND_DISPLAY"])
}

/** The link may stand in the list of processes for a moment; it works once, and the browser has used it by then. */
function openBrowser(url: string): boolean {
  const [command, ...parameters] =
    process.platform === "darwin"
      ? ["open"]
      : process.platform === "win32"
        ? ["rundll32", "url.dll,FileProtocolHandler"]
        : ["xdg-open"]
  const child = spawn(command as string, [...parameters, url], { stdio: "ignore", detached: true })
  // Without such a program the link stands in the terminal.
  child.on("error", () => undefined)
  child.unref()
  return child.pid !== undefined
}
