// `svc token ...`: tokens with less than everything, for the running gateway.
import type { Command } from "commander"
import { type CreatedToken, type Scope, type TokenSummary, scopes } from "../../src/gateway/access/contract.ts"
import { AppError } from "../../src/kernel/errors.ts"
import type { CliContext } from "../context.ts"
import { connectGateway } from "../gateway/client.ts"
import { readItems } from "../gateway/items.ts"
import { addExamples, addGatewayOptions, type GatewayOptions } from "../options.ts"
import { formatTable } from "../table.ts"
import { printableLine } from "../../src/kernel/terminal-text.ts"
import { describeTime } from "../time.ts"

export function addToken(program: Command, context: CliContext): void {
  const token = program.command("token").description("Make, list and revoke tokens with less than everything")
  addCreate(token, context)
  addList(token, context)
  addRevoke(token, context)
  addExamples(token, "svc token create --scope status --name monitoring --expires 90d", "svc token list")
}

interface CreateOptions extends GatewayOptions {
  scope: Scope[]
  name: string
  expires?: string
}

function addCreate(token: Command, context: CliContext): void {
  const create = token.command("create").description("Make a token and show it, this once")
  addGatewayOptions(create)
    .requiredOption("--scope <scope>", `what it may do: ${scopes.join(", ")}; several times for several`, collectScopes)
    .requiredOption("--name <name>", "what it is for, as lists and the audit log show it")
    .option("--expires <time>", "when it ends: 12h, 30d, 8w, 2027-01-31 (default: when it is revoked)")
    .action(async ({ scope, name, expires, ...options }: CreateOptions) => {
      const body = { name, scopes: scope, expires }
      const answer = (await connectGateway(context, options).call("POST", "/api/tokens", { body })) as CreatedToken
      if (options.json) return context.output.json(answer)
      context.output.line(answer.token)
      const end = answer.expiresAt === null ? "until it is revoked" : `until ${describeTime(answer.expiresAt)}`
      context.output.note(
        `${printableLine(answer.name)} (${answer.id}) may: ${answer.scopes.join(", ")}; ${end}\nThis is the only time that the token is shown; the gateway keeps a hash of it.`,
      )
    })
  addExamples(
    create,
    "svc token create --scope status --name monitoring --expires 90d",
    "svc token create --scope browser --scope message --name desk --json",
  )
}

/** Also several in one word: `browser,message`. */
function collectScopes(text: string, earlier: Scope[] = []): Scope[] {
  const wanted = text.split(",").map((word) => word.trim())
  const unknown = wanted.find((word) => !(scopes as readonly string[]).includes(word))
  if (unknown === undefined) return [...new Set([...earlier, ...(wanted as Scope[])])]
  throw new AppError("bad-request", `--scope must be one of ${scopes.join(", ")}, not "${unknown}"`)
}

function addList(token: Command, context: CliContext): void {
  const list = token.command("list").description("List the tokens with their scopes and their last use")
  addGatewayOptions(list).action(async (options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("GET", "/api/tokens")
    if (options.json) return context.output.json(answer)
    context.output.write(describeTokens(readItems<TokenSummary>(answer, "tokens")))
  })
  addExamples(list, "svc token list")
}

function describeTokens(tokens: readonly TokenSummary[]): string {
  if (tokens.length === 0) return "no tokens; the gateway's own one opens everything\n"
  const rows = tokens.map(({ id, name, scopes: held, createdAt, lastUsedAt, expiresAt, expired }) => [
    name,
    held.join(", "),
    describeTime(createdAt),
    lastUsedAt === null ? "never" : describeTime(lastUsedAt),
    expiresAt === null ? "never" : `${describeTime(expiresAt)}${expired ? " (over)" : ""}`,
    id,
  ])
  return formatTable(["Name", "Scopes", "Created", "Last used", "Expires", "Id"], rows)
}

function addRevoke(token: Command, context: CliContext): void {
  const revoke = token
    .command("revoke")
    .description("End a token at once")
    .argument("<token>", "its name or its id, as in: svc token list")
  addGatewayOptions(revoke).action(async (nameOrId: string, options: GatewayOptions) => {
    const answer = await connectGateway(context, options).call("POST", "/api/tokens/revoke", {
      body: { token: nameOrId },
    })
    if (options.json) return context.output.json(answer)
    const { name, id } = answer as TokenSummary
    context.output.line(`revoked ${printableLine(name)} (${id})`)
  })
  addExamples(revoke, "svc token revoke monitoring")
}
