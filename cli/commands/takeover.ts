// `svc browser takeover`: a link by which a person has a tab of the gateway's browser in their hands, for a login or a captcha.
import type { Command } from "commander"
import { AppError } from "../../src/kernel/errors.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { addExamples, type GatewayOptions } from "../options.ts"
import { drawQrCode } from "../qr-code.ts"
import { formatTable } from "../table.ts"
import { printableLine } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

interface TakeoverOptions extends GatewayOptions {
  tab?: string
  reason?: string
  list?: boolean
  end?: boolean
}

interface Link {
  id: string
  url: string
  others: string[]
  expiresAt: number
  reason: string
}

interface Summary {
  id: string
  state: string
  targetId: string
  reason: string
  askedAt: number
  expiresAt: number
}

export function addTakeover(browser: Command, context: CliContext): void {
  const takeover = browser
    .command("takeover")
    .description("Print a link by which a person takes a tab over, also on a phone: for a login, a code or a captcha")
    .argument(
      "[id]",
      "what the agent has asked for, by its id (default: the newest that waits, else the tab used last)",
    )
    .option("--tab <targetId>", "this tab, by its id or the beginning of it")
    .option("--reason <text>", "what the page says is to be done")
    .option("--list", "list what was asked for and handed over")
    .option("--end", "take the tab of this id back")
    .option("--json", "print the gateway's answer as JSON")
    .option("--state-dir <dir>", "state folder (default: $SVC_STATE_DIR, else ~/.svc)")
    .action(async (id: string | undefined, options: TakeoverOptions, command: Command) => {
      const { tab, reason, list, end, json, ...rest } = {
        ...command.optsWithGlobals(),
        ...options,
      } as TakeoverOptions & {
        profile?: string
      }
      const gateway = connectGateway(context, rest.stateDir === undefined ? {} : { stateDir: rest.stateDir })
      const { output } = context
      if (list) {
        const answer = await gateway.call("GET", "/api/browser/takeovers")
        if (json) return output.json(answer)
        return output.write(describeList(readItems<Summary>(answer, "takeovers")))
      }
      if (end) {
        if (id === undefined) {
          throw new AppError("bad-request", "Say which tab to take back: its id", {
            hint: "svc browser takeover --list",
          })
        }
        const answer = await gateway.call("POST", `/api/browser/takeovers/${encodeURIComponent(id)}/end`, { body: {} })
        if (json) return output.json(answer)
        return output.line("taken back")
      }
      const { profile } = rest as { profile?: string }
      const body = {
        ...(id === undefined ? {} : { id }),
        ...(tab === undefined ? {} : { targetId: tab }),
        ...(reason === undefined ? {} : { reason }),
        ...(profile === undefined ? {} : { profile }),
      }
      const link = (await gateway.call("POST", "/api/browser/takeovers", { body })) as Link
      if (json) return output.json(link)
      output.line(link.url)
      for (const other of link.others) output.line(other)
      if (link.others[0] !== undefined && process.stdout.isTTY) output.write(`\n${drawQrCode(link.others[0])}\n`)
      const what = link.reason === "" ? "" : `: ${printableLine(link.reason)}`
      output.note(
        `${link.id}${what}\nThe link works once, until ${describeTime(link.expiresAt)}. Whoever opens it has the tab.`,
      )
    })
  addExamples(takeover, "svc browser takeover", "svc browser takeover --list", "svc browser takeover 8f3a61c2 --end")
}

function describeList(takeovers: readonly Summary[]): string {
  if (takeovers.length === 0) return "nothing was handed over\n"
  const rows = takeovers.map(({ id, state, askedAt, expiresAt, targetId, reason }) => [
    id,
    state,
    describeTime(askedAt),
    describeTime(expiresAt),
    targetId.slice(0, 8),
    printableLine(reason),
  ])
  return formatTable(["Id", "State", "Asked", "Until", "Tab", "For"], rows)
}
