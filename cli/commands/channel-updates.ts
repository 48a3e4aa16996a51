// `svc channels updates`: what a chat platform sent that could not be read. It was set aside and held nothing up.
import type { Command } from "commander"
import type { UpdateDetail, UpdateSummary } from "../../src/gateway/api.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { olderOption, readItems } from "../gateway/items.ts"
import {
  addExamples,
  addGatewayOptions,
  addPageOptions,
  type GatewayOptions,
  type PageOptions,
  wholeNumber,
} from "../options.ts"
import { formatTable } from "../table.ts"
import { printable } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

export function addUpdates(channels: Command, context: CliContext): void {
  const updates = channels.command("updates").description("Look at updates that could not be read and were set aside")
  const list = updates.command("list", { isDefault: true }).description("List them, newest first")
  addPageOptions(addGatewayOptions(list)).action(async (options: GatewayOptions & PageOptions) => {
    const { limit, before } = options
    const answer = await connectGateway(context, options).call("GET", "/api/updates", { query: { limit, before } })
    if (options.json) return context.output.json(answer)
    context.output.write(describeUpdates(readItems(answer, "items")))
    const older = olderOption(answer)
    if (older !== undefined) context.output.note(`older ones: svc channels updates list ${older}`)
  })
  const show = updates
    .command("show")
    .description("Show one as it came")
    .argument("<id>", "id as in the list", wholeNumber("<id>", 1))
  addGatewayOptions(show).action(async (id: number, options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("GET", `/api/updates/${id}`)
    if (options.json) return context.output.json(answer)
    context.output.write(describeUpdate(answer as UpdateDetail))
  })
  addExamples(list, "svc channels updates list --limit 5")
  addExamples(show, "svc channels updates show 3")
  addExamples(updates, "svc channels updates", "svc channels updates show 3")
}

function describeUpdates(updates: readonly UpdateSummary[]): string {
  if (updates.length === 0) return "no updates were set aside\n"
  const rows = updates.map(({ id, channel, account, updateId, receivedAt, reason }) => [
    id,
    channel,
    account,
    updateId,
    describeTime(receivedAt),
    reason,
  ])
  return formatTable(["Id", "Channel", "Account", "Update", "Time", "Reason"], rows)
}

function describeUpdate(update: UpdateDetail): string {
  const head = formatTable(
    ["Set aside", String(update.id)],
    [
      ["Channel", `${update.channel}, account ${update.account}, bot ${update.botId}`],
      ["Update", update.updateId],
      ["Received", describeTime(update.receivedAt)],
      ["Reason", update.reason],
    ],
  )
  return `${head}\nBody\n${printable(JSON.stringify(update.body, null, 2) ?? "").replace(/^/gm, "  ")}\n`
}
