// Says where a call of the agent would go, by the very rules that decide it.
import { AppError } from "../kernel/index.ts"
import type { Reply } from "./contract.ts"
import type { ExplainRequest } from "./requests/index.ts"
import { type TargetOptions, decide } from "./sandbox/target.ts"

export async function explainTarget(options: TargetOptions, request: ExplainRequest): Promise<Reply<"Explanation">> {
  const { agent, for: whose, ...asked } = request
  const links = options.nodes?.links
  const facts = {
    mode: links?.settings().mode ?? ("off" as const),
    nodes: (links?.browsers() ?? []).map((node) => ({ ...node, profiles: [...node.profiles] })),
  }
  try {
    // A session that has done nothing yet.
    const context = { agentId: agent, sessionKey: "", trusted: whose === "owner" }
    const { kind, node, why } = await decide(options, { action: "snapshot", ...asked }, context)
    return { place: kind, node: node?.name ?? null, why, hint: null, ...facts }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { place: "none", node: null, why: error.message, hint: error.hint ?? null, ...facts }
  }
}
