// `svc pairing ...`: who asked to write to the bot, and letting them in or out.
import type { Command } from "commander"
import type { PairingGranted, PairingList } from "../../src/gateway/api.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"
import { formatTable } from "../table.ts"
import { printableLine } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

interface AccountOption {
  account?: string
}

interface ListOptions extends AccountOption {
  approved?: true
  waiting?: true
}

interface ApproveOptions extends AccountOption {
  owner?: true
  notify: boolean
  yes?: true
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
    .description("List who waits to be let in, and who was: when, and by whom")
    .argument("<channel>", "such as chatapp")
  addGatewayOptions(list)
    .option("--account <id>", "of this account only")
    .option("--approved", "list only who has been let in")
    .option("--waiting", "list only who waits")
    .action(async (channel: string, options: GatewayOptions & ListOptions) => {
      const query = { account: options.account }
      const answer = await connectGateway(context, options).call("GET", pairingPath(channel), { query })
      if (options.json) return context.output.json(answer)
      const parts = [
        ...(options.approved ? [] : [describeRequests(answer)]),
        ...(options.waiting ? [] : [describeApproved(answer)]),
      ]
      context.output.write(parts.join("\n"))
    })
  addExamples(list, "svc pairing list chatapp", "svc pairing list chatapp --approved --json")
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
  const rows = allowed.map(({ senderId, label, account, approvedAt, approvedBy, isOwner }) => [
    senderId,
    label,
    account,
    isOwner ? "owner" : "let in",
    describeTime(approvedAt),
    approvedBy || "not known",
  ])
  return formatTable(["Sender", "Name", "Account", "Standing", "Approved", "By"], rows)
}

function addApprove(pairing: Command, context: CliContext): void {
  const approve = pairing
    .command("approve")
    .description("Let in the person whose code this is, tell them, and answer what they wrote first")
    .argument("<channel>", "such as chatapp")
    .argument("<code>", "the code that the bot told them")
  addGatewayOptions(approve)
    .option("--account <id>", "account of the channel, when there are several")
    .option("--owner", "make them an owner of the bot: their id is added to allowFrom in the configuration")
    .option("--notify", "tell them in the chat", true)
    .option("--no-notify", "do not tell them")
    .option("-y, --yes", "do not ask whether they may share a conversation with others")
    .action(async (channel: string, code: string, options: GatewayOptions & ApproveOptions) => {
      const gateway = connectGateway(context, options)
      const path = pairingPath(channel)
      if (!(await mayShare(context, options, code, () => gateway.call("GET", path, { query: {} })))) return
      const { account, owner, notify } = options
      const body = { code, account, owner, notify }
      const answer = await gateway.call("POST", `${path}/approve`, { body })
      if (options.json) return context.output.json(answer)
      context.output.line(describeGrant(context, answer as Partial<PairingGranted>, { code, notify }))
    })
  addExamples(
    approve,
    "svc pairing approve chatapp AB3DEF7H",
    "svc pairing approve chatapp AB3DEF7H --owner",
    "svc pairing approve chatapp AB3DEF7H --no-notify --yes",
  )
}

/** At a terminal somebody is asked before one more person comes into a conversation that others have. */
async function mayShare(
  context: CliContext,
  options: GatewayOptions & ApproveOptions,
  code: string,
  list: () => Promise<unknown>,
): Promise<boolean> {
  if (options.yes || options.json || !process.stdin.isTTY) return true
  const answer = (await list()) as Partial<PairingList>
  const request = answer.requests?.find((each) => each.code === code.trim().toUpperCase())
  const others = request?.sharesWith ?? 0
  if (!request || others === 0) return true
  const name = printableLine(request.label || request.senderId)
  const { openTerminal } = await import("../setup/terminal.ts")
  const terminal = openTerminal({ input: process.stdin, output: process.stderr })
  try {
    terminal.say(sharingText(context, others, name))
    if (/^y(?:es)?$/i.test(await terminal.ask(`Let ${name} in all the same? [y/N] `))) return true
  } finally {
    terminal.end()
  }
  context.output.line("nothing was changed")
  context.exitCode = 1
  return false
}

function describeGrant(
  context: CliContext,
  granted: Partial<PairingGranted>,
  { code, notify }: { code: string; notify: boolean },
): string {
  const { senderId, label, isOwner, isAnswered, sharesWith = 0 } = granted
  const name = printableLine([label, senderId].filter(Boolean).join(" ") || code)
  const told = notify ? "They are told in the chat" : "They are not told"
  const next = isAnswered ? "what they wrote first is being answered" : "they have to write again to be answered"
  return [
    `approved ${name}${isOwner ? ", as an owner" : ""}`,
    `${told}; ${next}.`,
    ...(sharesWith > 0 ? [sharingText(context, sharesWith, "this person")] : []),
  ].join("\n")
}

function sharingText({ output }: CliContext, others: number, name: string): string {
  const people = others === 1 ? "one other person" : `${others} other people`
  return [
    `Direct chats are one conversation here: ${name} shares it with ${people}. Each gets their own answers, but the agent`,
    "remembers what all of them have said, and may tell it to any of them.",
    output.named("To give each person a conversation of their own: svc config set session.dmScope per-peer"),
  ].join("\n")
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
      const { removed, listedIn = [] } = answer as { removed?: boolean; listedIn?: string[] }
      context.output.line(removed === false ? `${sender} was not approved` : `revoked ${sender}`)
      for (const key of listedIn) context.output.line(`${sender} is still let in, as an owner: listed in ${key}`)
    })
  addExamples(revoke, "svc pairing revoke chatapp 123456789")
}

function pairingPath(channel: string): string {
  return `/api/pairing/${encodeURIComponent(channel)}`
}
