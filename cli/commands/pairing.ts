// `svc pairing ...`: who asked to write to the bot, and letting them in or out.
import type { Command } from "commander"
import type { PairingList } from "../../src/gateway/api.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"
import { formatTable } from "../table.ts"
import { printableLine } from "../terminal-text.ts"
import { describeTime } from "../time.ts"

interface AccountOption {
  account?: string
}

export function addPairing(program: Command, context: CliContext): void {
  const pairing = program.command("pairing").description("Let people write to the bot, or no longer")
  addList(pairing, context)
  addApprove(pairing, context)
  addDeny(pairing, context)
  addRevoke(pairing, context)
  addExamples(pairing, "svc pairing list chatapp", "svc pairing approve chatapp AB3DEF7H")
}

function addList(pairing: Command, context: CliContext): void {
  const list = pairing
    .command("list")
    .description("List who asked to be let in")
    .argument("<channel>", "such as chatapp")
  addGatewayOptions(list)
    .option("--account <id>", "of this account only")
    .option("--approved", "list who has been let in instead")
    .action(async (channel: string, options: GatewayOptions & AccountOption & { approved?: true }) => {
      const query = { account: options.account }
      const answer = await connectGateway(context, options).call("GET", pairingPath(channel), { query })
      if (options.json) return context.output.json(answer)
      context.output.write(options.approved ? describeApproved(answer) : describeRequests(answer))
    })
  addExamples(list, "svc pairing list chatapp")
}

function describeRequests(answer: unknown): string {
  const requests = readItems<PairingList["requests"][number]>(answer, "requests")
  if (requests.length === 0) return "nobody is waiting to be let in\n"
  const rows = requests.map(({ code, senderId, label, account, createdAt, expiresAt }) => [
    code,
    senderId,
    label,
    account,
    describeTime(createdAt),
    describeTime(expiresAt),
  ])
  return formatTable(["Code", "Sender", "Name", "Account", "Requested", "Expires"], rows)
}

function describeApproved(answer: unknown): string {
  const allowed = readItems<PairingList["allowed"][number]>(answer, "allowed")
  if (allowed.length === 0) return "nobody has been let in by pairing\n"
  const rows = allowed.map(({ senderId, label, account, approvedAt }) => [
    senderId,
    label,
    account,
    describeTime(approvedAt),
  ])
  return formatTable(["Sender", "Name", "Account", "Approved"], rows)
}

function addApprove(pairing: Command, context: CliContext): void {
  const approve = pairing
    .command("approve")
    .description("Let in the person whose code this is")
    .argument("<channel>", "such as chatapp")
    .argument("<code>", "the code that the bot told them")
  addGatewayOptions(approve)
    .option("--account <id>", "account of the channel, when there are several")
    .option("--notify", "tell them in the chat")
    .action(async (channel: string, code: string, options: GatewayOptions & AccountOption & { notify?: true }) => {
      const body = { code, account: options.account, notify: options.notify }
      const answer = await connectGateway(context, options).call("POST", `${pairingPath(channel)}/approve`, { body })
      if (options.json) return context.output.json(answer)
      const { senderId, label } = answer as { senderId?: string; label?: string }
      context.output.line(`approved ${printableLine([label, senderId].filter(Boolean).join(" ") || code)}`)
    })
  addExamples(approve, "svc pairing approve chatapp AB3DEF7H --notify")
}

function addDeny(pairing: Command, context: CliContext): void {
  const deny = pairing
    .command("deny")
    .description("Turn a request down; the person is not told a new code within its hour")
    .argument("<channel>", "such as chatapp")
    .argument("<code>", "the code, or the id of the sender")
  addGatewayOptions(deny)
    .option("--account <id>", "account of the channel, when there are several")
    .option("--notify", "tell them in the chat")
    .action(async (channel: string, code: string, options: GatewayOptions & AccountOption & { notify?: true }) => {
      const body = { code, account: options.account, notify: options.notify }
      const answer = await connectGateway(context, options).call("POST", `${pairingPath(channel)}/deny`, { body })
      if (options.json) return context.output.json(answer)
      const { senderId, label } = answer as { senderId?: string; label?: string }
      context.output.line(`denied ${printableLine([label, senderId].filter(Boolean).join(" ") || code)}`)
    })
  addExamples(deny, "svc pairing deny chatapp AB3DEF7H", "svc pairing deny chatapp 123456789 --notify")
}

function addRevoke(pairing: Command, context: CliContext): void {
  const revoke = pairing
    .command("revoke")
    .description("Take back an approval")
    .argument("<channel>", "such as chatapp")
    .argument("<sender>", "id of the sender, as in: svc pairing list <channel> --approved")
  addGatewayOptions(revoke)
    .option("--account <id>", "account of the channel, when there are several")
    .action(async (channel: string, sender: string, options: GatewayOptions & AccountOption) => {
      const body = { senderId: sender, account: options.account }
      const answer = await connectGateway(context, options).call("POST", `${pairingPath(channel)}/revoke`, { body })
      if (options.json) return context.output.json(answer)
      const { removed } = answer as { removed?: boolean }
      context.output.line(removed === false ? `${sender} was not approved` : `revoked ${sender}`)
    })
  addExamples(revoke, "svc pairing revoke chatapp 123456789")
}

function pairingPath(channel: string): string {
  return `/api/pairing/${encodeURIComponent(channel)}`
}
