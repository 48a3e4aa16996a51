// Anthropic's rules about thinking: its budget, and the blocks that must come back as they were.
// "Extended thinking" guide, and the issues named at each rule.
import type { JsonObject } from "../../../src/kernel/index.ts"
import { badRequest, blocksOf, messageBlocks, messagesOf, toolUseIds } from "./anthropic-blocks.ts"
import type { Rule } from "./contract.ts"
import type { Issued, IssuedReply } from "./issued.ts"
import { firstFault, objectOf, textOf } from "./read.ts"

const guide = "Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"

const isThinking = (block: JsonObject | undefined) => block?.type === "thinking" || block?.type === "redacted_thinking"

function thinkingType(body: JsonObject): string {
  return textOf(objectOf(body.thinking).type)
}

function thinks(body: JsonObject): boolean {
  return ["enabled", "adaptive"].includes(thinkingType(body))
}

// themaximalist/llm.js#30
export const budget: Rule = ({ body }) => {
  if (thinkingType(body) !== "enabled") return undefined
  const tokens = objectOf(body.thinking).budget_tokens
  if (typeof tokens !== "number") return badRequest("thinking.enabled.budget_tokens: Field required")
  if (tokens < 1024) {
    return badRequest("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
  }
  if (typeof body.max_tokens === "number" && body.max_tokens > tokens) return undefined
  return badRequest(
    `\`max_tokens\` must be greater than \`thinking.budget_tokens\`. ${guide}#max-tokens-and-context-window-size`,
  )
}

// home-assistant/core#139662
export const thinkingSampling: Rule = ({ body }) => {
  if (!thinks(body)) return undefined
  if (body.temperature !== undefined && body.temperature !== 1) {
    return badRequest(
      `\`temperature\` may only be set to 1 when thinking is enabled. ${guide}#important-considerations-when-using-extended-thinking`,
    )
  }
  if (typeof body.top_p === "number" && body.top_p < 0.95) {
    return badRequest("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.")
  }
  return body.top_k === undefined ? undefined : badRequest("`top_k` must be unset when thinking is enabled.")
}

// code-yeongyu/oh-my-openagent#2775, anthropics/anthropic-sdk-python#1598
export const signatures: Rule = ({ body }, issued) =>
  firstFault(messageBlocks(body), ({ block, type, at }) => {
    if (type === "thinking") {
      if (typeof block.signature !== "string") return badRequest(`${at}.thinking.signature: Field required`)
      return issued.hasSignatures() && !issued.knowsSignature(block.signature)
        ? badRequest(`${at}: Invalid \`signature\` in \`thinking\` block`)
        : undefined
    }
    if (type !== "redacted_thinking" || !issued.hasSignatures()) return undefined
    return issued.knowsSignature(textOf(block.data))
      ? undefined
      : badRequest(`${at}: Invalid \`data\` in \`redacted_thinking\` block`)
  })

/** The message that called the tools whose results are being sent now. */
function loopIndex(body: JsonObject): number | undefined {
  const messages = messagesOf(body)
  const index = messages.findLastIndex((message) => message.role === "assistant")
  return index !== -1 && toolUseIds(messages[index]).length > 0 ? index : undefined
}

// openai/openai-agents-python#1704, pydantic/pydantic-ai#2075. Only a budget asks for it; adaptive thinking may skip.
export const loopStartsWithThinking: Rule = ({ body }) => {
  const index = loopIndex(body)
  if (index === undefined || thinkingType(body) !== "enabled") return undefined
  const first = blocksOf(messagesOf(body)[index]?.content)[0]
  if (isThinking(first)) return undefined
  return badRequest(
    `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${textOf(first?.type)}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`. ${guide}`,
  )
}

// anthropics/claude-code#63284, cortexkit/anthropic-auth#49 (moved among the calls), BerriAI/litellm#23093
export const thinkingIsUnchanged: Rule = ({ body }, issued) => {
  const index = loopIndex(body)
  if (index === undefined) return undefined
  const blocks = blocksOf(messagesOf(body)[index]?.content)
  const reply = replyOf(blocks, issued)
  if (!reply) return undefined
  const came = blocks.filter((block) => isThinking(block) || block.type === "tool_use").map(markOf)
  const hasThinking = blocks.some((block) => isThinking(block))
  const went = marksOf(reply)
  // None at all is another rule's matter, and none of adaptive thinking's.
  if (!hasThinking || came.join("\n") === went.join("\n")) return undefined
  const place = came.findIndex((mark, position) => mark !== went[position])
  return badRequest(
    `messages.${index}.content.${Math.max(place, 0)}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
  )
}

function replyOf(blocks: readonly JsonObject[], issued: Issued): IssuedReply | undefined {
  const call = blocks.find((block) => block.type === "tool_use")
  return call && issued.byCall(textOf(call.id))
}

function markOf(block: JsonObject): string {
  if (block.type === "tool_use") return `call ${textOf(block.id)}`
  if (block.type === "redacted_thinking") return `redacted ${textOf(block.data)}`
  return `thinking ${JSON.stringify([block.thinking, block.signature])}`
}

function marksOf(reply: IssuedReply): string[] {
  return reply.parts.flatMap((part) => {
    if (part.type === "call") return [`call ${part.id}`]
    if (part.type === "text") return []
    return [part.redacted ? `redacted ${part.signature}` : `thinking ${JSON.stringify([part.text, part.signature])}`]
  })
}

// cortexkit/anthropic-auth#49
export const lastBlockIsNotThinking: Rule = ({ body }) =>
  firstFault(messagesOf(body), (message, index) => {
    const blocks = blocksOf(message.content)
    if (message.role !== "assistant" || !isThinking(blocks.at(-1))) return undefined
    return badRequest(`messages.${index}: The final block in an assistant message cannot be \`thinking\`.`)
  })
