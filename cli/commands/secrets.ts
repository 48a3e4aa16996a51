// `svc secrets ...`: what the agent may fill into pages without seeing it. Values are asked for or read from standard
// input; they are no arguments, which other programs of the machine could read.
import { text as readAll } from "node:stream/consumers"
import { type Command, Option } from "commander"
import type { SecretSummary } from "../../src/secrets/contract.ts"
import { AppError } from "../../src/kernel/errors.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"
import { formatTable } from "../table.ts"
import { printableLine } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

export function addSecrets(program: Command, context: CliContext): void {
  const secrets = program.command("secrets").description("Keep what the agent fills into pages and never sees")
  addSet(secrets, context)
  addList(secrets, context)
  addRemove(secrets, context)
  addExamples(secrets, "svc secrets set shop-password --origin https://shop.example", "svc secrets list")
}

interface SetOptions extends GatewayOptions {
  origin: string[]
  op?: string
  bw?: string
  bwField?: string
  anyField?: boolean
}

function addSet(secrets: Command, context: CliContext): void {
  const set = secrets
    .command("set")
    .description("Keep a secret; its value is asked for, or read from standard input")
    .argument("<name>", "how the agent names it: lower-case letters, digits and ._-")
  addGatewayOptions(set)
    .requiredOption(
      "--origin <origin>",
      "whose pages it may be filled into, exactly; several times for several",
      (one: string, others: string[] = []) => [...others, one],
    )
    .option("--op <reference>", "1Password has it: op://vault/item/field")
    .option("--bw <item>", "Bitwarden has it: the item's id or name")
    .addOption(
      new Option("--bw-field <field>", "what of the item (default: password)").choices([
        "password",
        "username",
        "totp",
      ]),
    )
    .option("--any-field", "also into fields that show what they hold, such as a user name's")
    .action(async (name: string, { origin, op, bw, bwField, anyField, ...options }: SetOptions) => {
      if (bwField !== undefined && bw === undefined) throw new AppError("bad-request", "--bw-field needs --bw")
      const kept = op === undefined && bw === undefined
      const body = {
        name,
        origins: origin,
        ...(kept ? { value: await readValue(name) } : {}),
        ...(op === undefined ? {} : { op }),
        ...(bw === undefined ? {} : { bw: { item: bw, field: bwField ?? "password" } }),
        anyField: anyField ?? false,
      }
      const answer = await connectGateway(context, options).call("POST", "/api/secrets", { body })
      if (options.json) return context.output.json(answer)
      const { origins } = answer as SecretSummary
      context.output.line(`kept ${printableLine(name)} for ${origins.map(printableLine).join(", ")}`)
    })
  addExamples(
    set,
    "svc secrets set shop-password --origin https://shop.example",
    "pass show shop | head -1 | svc secrets set shop-password --origin https://shop.example",
    "svc secrets set bank --origin https://bank.example --op op://Private/Bank/password",
    "svc secrets set bank-code --origin https://bank.example --bw Bank --bw-field totp",
  )
}

async function readValue(name: string): Promise<string> {
  if (!process.stdin.isTTY) {
    const value = (await readAll(process.stdin)).replace(/\r?\n$/, "")
    if (value !== "") return value
    throw new AppError("bad-request", "Standard input was empty", {
      hint: `For example: pass show shop | head -1 | svc secrets set ${name} ...; or at a terminal, where it is asked for`,
    })
  }
  const { openTerminal } = await import("../setup/terminal.ts")
  const terminal = openTerminal({ input: process.stdin, output: process.stderr })
  try {
    return await terminal.ask(`Value of ${name}: `, { hidden: true })
  } finally {
    terminal.end()
  }
}

function addList(secrets: Command, context: CliContext): void {
  const list = secrets.command("list").description("List the secrets, without their values")
  addGatewayOptions(list).action(async (options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("GET", "/api/secrets")
    if (options.json) return context.output.json(answer)
    context.output.write(describeSecrets(readItems<SecretSummary>(answer, "secrets")))
  })
  addExamples(list, "svc secrets list")
}

const sources = { stored: "kept here", op: "1Password", bw: "Bitwarden" }

function describeSecrets(secrets: readonly SecretSummary[]): string {
  if (secrets.length === 0) return "no secrets\n"
  const rows = secrets.map(({ name, origins, source, reference, anyField, lastUsedAt }) => [
    name,
    origins.map(printableLine).join(", "),
    reference === null ? sources[source] : `${sources[source]} ${printableLine(reference)}`,
    anyField ? "any" : "password",
    lastUsedAt === null ? "never" : describeTime(lastUsedAt),
  ])
  return formatTable(["Name", "For", "From", "Fields", "Last used"], rows)
}

function addRemove(secrets: Command, context: CliContext): void {
  const remove = secrets.command("remove").description("Remove a secret").argument("<name>", "its name")
  addGatewayOptions(remove).action(async (name: string, options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("POST", "/api/secrets/remove", { body: { name } })
    if (options.json) return context.output.json(answer)
    context.output.line(`removed ${printableLine(name)}`)
  })
  addExamples(remove, "svc secrets remove shop-password")
}
