// `svc outbox`: the outbox; what was sent to chats, what waits, what failed, and sending it once more.
import type { Command } from "commander"
import type { DeliveryDetail, DeliverySummary } from "../../src/gateway/api.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { olderOption, readItems } from "../gateway/items.ts"
import {
  addExamples,
  addGatewayOptions,
  addPageOptions,
  wholeNumber,
  type GatewayOptions,
  type PageOptions,
} from "../options.ts"
import { formatTable } from "../table.ts"
import { printable } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

const states = ["new", "sending", "sent", "uncertain", "dead", "dropped"] as const

export function addOutbox(program: Command, context: CliContext): void {
  const outbox = program
    .command("outbox")
    // Its name before deliveries of webhooks had commands of their own.
    .alias("deliveries")
    .description("Look at messages to chats: what waits, was sent or failed; send it again")
  addList(outbox, context)
  const show = outbox
    .command("show")
    .description("Show one message whole")
    .argument("<id>", "id as in the list", readId)
  addGatewayOptions(show).action(async (id: number, options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("GET", `/api/deliveries/${id}`)
    if (options.json) return context.output.json(answer)
    context.output.write(describeDelivery(answer as DeliveryDetail))
  })
  addExamples(show, "svc outbox show 42")
  const retry = outbox
    .command("retry")
    .description("Send a failed or uncertain message once more")
    .argument("<id>", "id as in the list", readId)
  addGatewayOptions(retry).action(async (id: number, options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("POST", `/api/deliveries/${id}/retry`)
    if (options.json) return context.output.json(answer)
    const newId = (answer as { id?: unknown } | null)?.id
    context.output.line(`message ${id} will be sent again${typeof newId === "number" ? ` as ${newId}` : ""}`)
  })
  addExamples(retry, "svc outbox retry 42")
  addExamples(outbox, "svc outbox list --state dead", "svc outbox retry 42")
}

function addList(outbox: Command, context: CliContext): void {
  const list = outbox.command("list", { isDefault: true }).description("List messages, newest first")
  addPageOptions(addGatewayOptions(list))
    .addOption(list.createOption("--state <state>", "only messages in this state").choices(states))
    .action(async (options: GatewayOptions & PageOptions & { state?: string }) => {
      const { limit, before, state } = options
      const query = { limit, before, state }
      const answer = await connectGateway(context, options).call("GET", "/api/deliveries", { query })
      if (options.json) return context.output.json(answer)
      context.output.write(describeDeliveries(readItems(answer, "items")))
      const older = olderOption(answer)
      if (older !== undefined) context.output.note(`older ones: svc outbox list ${older}`)
    })
  addExamples(list, "svc outbox list --state uncertain")
}

const readId = wholeNumber("<id>", 1)

function describeDeliveries(deliveries: readonly DeliverySummary[]): string {
  if (deliveries.length === 0) return "no messages\n"
  const rows = deliveries.map((delivery) => [
    delivery.id,
    delivery.channel,
    delivery.chatId,
    delivery.kind,
    delivery.state,
    describeTime(delivery.sentAt ?? delivery.createdAt),
    delivery.error ?? delivery.preview,
  ])
  return formatTable(["Id", "Channel", "Chat", "Kind", "State", "Time", "Text or error"], rows)
}

function describeDelivery(delivery: DeliveryDetail): string {
  const head = formatTable(
    ["Message", String(delivery.id)],
    [
      ["Run", delivery.runId],
      ["Channel", `${delivery.channel}, account ${delivery.account}`],
      ["Chat", delivery.chatId],
      ["State", `${delivery.state}, attempts: ${delivery.attempts}`],
      ["Created", describeTime(delivery.createdAt)],
      ["Sent", describeTime(delivery.sentAt)],
      ["Platform id", delivery.remoteId],
      ["Error", delivery.error],
      ["Route", JSON.stringify(delivery.route)],
    ],
  )
  return `${head}\nPayload\n${printable(JSON.stringify(delivery.payload, null, 2) ?? "").replace(/^/gm, "  ")}\n`
}
