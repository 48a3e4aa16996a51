// Thinking level -> fields of the request, in the form that the server has for it. Undefined sends nothing: the model's
// own default. A level that the model lacks becomes the nearest one, and of two equally near ones the lower.
import type { JsonObject } from "../../kernel/index.ts"
import type { ThinkingLevel } from "../contract.ts"
import type { ModelTarget } from "../resolve.ts"
import { type Level, lowestLevel, nearestLevel } from "../levels.ts"
import { isGptOss, type EffortRule } from "./efforts.ts"
import type { Ways } from "./presets.ts"

const levels: readonly Level[] = ["minimal", "low", "medium", "high"]

type Thinker = Pick<ModelTarget, "modelId" | "reasoning" | "canBeOff">

export function thinkingFields(thinking: ThinkingLevel | undefined, target: Thinker, ways: Ways): JsonObject {
  if (thinking === undefined || target.reasoning?.length === 0) return {}
  switch (ways.thinking) {
    case "effort":
      return effortFields(thinking, target, ways.efforts(target.modelId))
    case "object":
      if (thinking === "off" && target.canBeOff === false) return {}
      return { thinking: { type: thinking === "off" ? "disabled" : "enabled" } }
    case "openrouter":
      return reasoningFields(thinking, target, ways)
    case "template":
      return templateFields(thinking, target)
    case "none":
      return {}
  }
}

function effortFields(thinking: ThinkingLevel, target: Thinker, rule: EffortRule): JsonObject {
  if (target.reasoning === undefined && !rule.taken) return {}
  const spoken = levels.filter((level) => rule.words[level] !== undefined)
  const both = spoken.filter((level) => target.reasoning?.includes(level) ?? true)
  const offered = both.length > 0 ? both : spoken
  if (thinking === "off") {
    if (rule.locked !== true && target.canBeOff !== false) {
      const off = rule.off ?? (target.canBeOff === true ? "none" : undefined)
      return off === undefined ? {} : { reasoning_effort: off }
    }
  }
  const level = thinking === "off" ? lowestLevel(offered) : nearestLevel(thinking, offered)
  const word = level === undefined ? undefined : rule.words[level]
  return word === undefined ? {} : { reasoning_effort: word }
}

/** Models that OpenRouter refuses to switch off ("Reasoning is mandatory for this endpoint"), as far as known by name. */
const mandatory = /gpt-oss|openai\/o\d|gpt-5(?!\.)|gemini-(?:2\.5|3).{0,100}pro|grok-4(?!\.3)|deepseek-r1|-thinking/

/** openrouter.ai/docs/use-cases/reasoning-tokens, docs.together.ai/docs/inference/chat/reasoning */
function reasoningFields(thinking: ThinkingLevel, target: Thinker, ways: Ways): JsonObject {
  const offered = target.reasoning ?? levels
  const locked = target.canBeOff === false || (target.canBeOff === undefined && mandatory.test(target.modelId))
  const level =
    thinking === "off"
      ? locked
        ? lowestLevel(target.reasoning ?? ["low"])
        : undefined
      : nearestLevel(thinking, offered)
  if (ways.togglesReasoning) {
    if (isGptOss(target.modelId)) return effortFields(thinking, target, ways.efforts(target.modelId))
    return level !== undefined && thinking === "off" ? {} : { reasoning: { enabled: level !== undefined } }
  }
  return { reasoning: level === undefined ? { enabled: false } : { effort: level } }
}

/** The switch is a variable of the model's chat template: Qwen and GLM call it one thing, DeepSeek, Kimi, Granite another. */
function templateFields(thinking: ThinkingLevel, target: Thinker): JsonObject {
  if (isGptOss(target.modelId)) {
    const offered = (target.reasoning ?? levels).filter((level) => level !== "minimal")
    const level = thinking === "off" ? "low" : nearestLevel(thinking, offered.length > 0 ? offered : ["low"])
    // vLLM reads the field, llama.cpp the variable.
    return { reasoning_effort: level, chat_template_kwargs: { reasoning_effort: level } }
  }
  const on = thinking !== "off"
  if (!on && target.canBeOff === false) return {}
  const alsoNamed = /deepseek|kimi|granite/i.test(target.modelId) ? { thinking: on } : {}
  return { chat_template_kwargs: { enable_thinking: on, ...alsoNamed } }
}
