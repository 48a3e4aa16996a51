// How each provider says that a conversation is too long, and which limit it names while it does. One row for each way
// of saying it; the words are matched in a short piece of text with longer quotations taken out.

interface Wording {
  /** Who says so. */
  who: string
  says: RegExp
  /** Finds the limit in tokens, in its first group. */
  limit?: RegExp
}

const wordings: readonly Wording[] = [
  {
    // "This model's maximum context length is 128000 tokens. However, your messages resulted in ..."; DeepSeek and
    // Together repeat it, OpenRouter says "This endpoint's", SGLang and LiteLLM "maximum context length of N tokens".
    who: "OpenAI, Azure, DeepSeek, OpenRouter, SGLang, vLLM, Bedrock (Llama)",
    says: /maximum context length/i,
    limit: /maximum context length (?:is |of |limit is )?(?:only )?\(?([\d,_]+)/i,
  },
  // "Your input exceeds the context window of this model." (Responses)
  { who: "OpenAI", says: /exceeds the (?:model's )?context window/i },
  {
    // "Input tokens exceed the configured limit of 272000 tokens."
    who: "OpenAI",
    says: /input tokens exceed the configured limit/i,
    limit: /configured limit of ([\d,]+)/i,
  },
  // "Invalid 'messages[1].content': string too long", "Invalid 'messages': array too long": characters and pieces,
  // so the number is no limit in tokens. BerriAI/litellm, exception_mapping_utils.py
  { who: "OpenAI", says: /'(?:messages|input)\b[^']{0,60}': (?:string|array) too long/i },
  {
    // "prompt is too long: 213462 tokens > 200000 maximum". earendil-works/pi#102
    who: "Anthropic, Bedrock (Anthropic)",
    says: /prompt is too long/i,
    limit: /tokens? > ([\d,]+) maximum/i,
  },
  {
    // "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"
    who: "Anthropic",
    says: /exceed context limit/i,
    limit: /exceed context limit: [\d,]+ \+ [\d,]+ > ([\d,]+)/i,
  },
  // "Extra usage is required for long context requests.", "The long context beta is not yet available ..."
  { who: "Anthropic", says: /long context (?:requests|beta)/i },
  // "Request exceeds the maximum size", of bytes.
  { who: "Anthropic", says: /request exceeds the maximum (?:allowed )?(?:size|number of bytes)/i },
  {
    // "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575)", also without the first
    // number or without brackets. google-gemini/gemini-cli#6678, warpdotdev/warp#15662
    who: "Gemini",
    says: /input token count.{0,40}exceeds the maximum number of tokens/i,
    limit: /tokens allowed:? \(?([\d,]+)/i,
  },
  { who: "Gemini", says: /request payload size exceeds the limit/i },
  {
    // "... because the input token count is 1251952 but model only supports up to 1048576." google-gemini/gemini-cli#19727
    who: "Vertex",
    says: /input token count is [\d,]+ but (?:the )?model only supports up to/i,
    limit: /only supports up to ([\d,]+)/i,
  },
  {
    // "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length"
    who: "Mistral",
    says: /too large for model with/i,
    limit: /model with ([\d,]+) maximum context length/i,
  },
  {
    // "This model's maximum prompt length is 131072 but the request contains 136973 tokens." cline/cline#3120
    who: "xAI",
    says: /maximum prompt length is/i,
    limit: /maximum prompt length is ([\d,]+)/i,
  },
  {
    // "Please reduce the length of the messages or completion." Cerebras goes on: "Current length is 42328 while limit
    // is 40000". thepersonalaicompany/amurex-backend#51, cline/cline#5140
    who: "Groq, Cerebras",
    says: /reduce the length of (?:the|your) (?:messages|prompt|input)/i,
    limit: /while limit is ([\d,]+)/i,
  },
  {
    // "The input (65577 tokens) is longer than the model's context length (65536 tokens)."
    who: "Together, SGLang",
    says: /is longer than the model's context length/i,
    limit: /longer than the model's context length \(?([\d,]+)/i,
  },
  {
    // "`inputs` tokens + `max_new_tokens` must be <= 4097. Given: ...", "`inputs` must have less than 1024 tokens."
    who: "TGI, Together",
    says: /max_new_tokens`? must be <=|`?inputs`? must have less than/i,
    limit: /(?:must be <= |must have less than )([\d,]+)/i,
  },
  {
    // "Your request exceeded model token limit: 262144 (requested: 269030)". MoonshotAI/kimi-cli#2011
    who: "Kimi, Moonshot",
    says: /exceeded model token limit/i,
    limit: /exceeded model token limit: ?([\d,]+)/i,
  },
  // "Prompt exceeds max length", code 1261. zeroclaw-labs/zeroclaw#4124
  { who: "z.ai, GLM", says: /prompt exceeds max(?:imum)? length/i },
  // "invalid params, context window exceeds limit (2013)": 2013 is a code. MiniMax-AI/MiniMax-M2#119
  { who: "MiniMax", says: /context window exceeds limit/i },
  {
    // "Range of input length should be [1, 204800]". QwenLM/qwen-code#98
    who: "Qwen, DashScope",
    says: /range of input length should be/i,
    limit: /input length should be \[\d+, ?([\d,]+)\]/i,
  },
  {
    // "Input is too long for requested model."; Titan: "Too many input tokens. Max input tokens: 8192, ..."
    who: "Bedrock",
    says: /input is too long for requested model|too many input tokens\. max/i,
    limit: /max input tokens: ([\d,]+)/i,
  },
  {
    // "too many tokens: total number of tokens (prompt and prediction) cannot exceed 2048 - received 6354", "too many
    // tokens: size limit exceeded by 1163 tokens." cohere-ai/sandbox-topically#4
    who: "Cohere",
    says: /too many tokens: (?:total|size)/i,
    limit: /cannot exceed ([\d,]+)/i,
  },
  {
    // "The prompt is too long: 40177, model maximum context length: 32767". fw-ai/cookbook#134
    who: "Fireworks",
    says: /model maximum context length/i,
    limit: /maximum context length: ([\d,]+)/i,
  },
  {
    // "The decoder prompt (length 21535) is longer than the maximum model length of 16384." xorbitsai/inference#3785;
    // "... is too long to fit into the model (context length 4096)." vllm-project/vllm#12165; "the model's context
    // length is only 8192 tokens"
    who: "vLLM",
    says: /longer than the maximum model length|too long to fit into the model|context length is only [\d,]+/i,
    limit: /(?:maximum model length of |into the model \(context length |context length is only )([\d,]+)/i,
  },
  {
    // "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it", earlier without
    // numbers; "Context size has been exceeded."
    who: "llama.cpp, LM Studio (MLX)",
    says: /exceeds? the available context size|context size has been exceeded/i,
    limit: /available context size \(([\d,]+)/i,
  },
  {
    // "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx:
    // 4096).", "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with
    // context length of only 7866 tokens". Gitlawb/openclaude#353, cline/cline#3664
    who: "LM Studio",
    says: /is greater than the context length|loaded with context length of only|cannot truncate prompt with n_keep/i,
    limit: /(?:n_ctx: ?|\bn_ctx \(|context length of only )([\d,]+)/i,
  },
  {
    // "the input length exceeds the context length", "prompt too long; exceeded max context length by 120 tokens",
    // "Input length 6491 exceeds context length 1500". nano-step/nano-brain#208, lmstudio-ai/examples#29
    who: "Ollama",
    says: /input length.{0,20} exceeds (?:the |maximum |the maximum )?context length|prompt too long; exceeded/i,
    limit: /exceeds context length ([\d,]+)/i,
  },
  {
    // "prompt token count of 138898 exceeds the limit of 64000". microsoft/copilot-intellij-feedback#94
    who: "Copilot",
    says: /prompt token count of [\d,]+ exceeds the limit/i,
    limit: /exceeds the limit of ([\d,]+)/i,
  },
  {
    // "Request body too large for gpt-4o model. Max size: 8000 tokens."
    who: "GitHub Models",
    says: /request body too large for/i,
    limit: /max size: ([\d,]+) tokens/i,
  },
  {
    // "Input length 200000 exceeds the maximum allowed input length of 131072 tokens."
    who: "OpenRouter (Poolside)",
    says: /maximum allowed input length/i,
    limit: /allowed input length of ([\d,]+)/i,
  },
  {
    // "length of prompt_tokens (40000) must be less than max_seq_len (32768)."
    who: "SiliconFlow",
    says: /length of prompt_tokens.{0,20}must be less than/i,
    limit: /max_seq_len \(?([\d,]+)/i,
  },
  {
    // "the number of input tokens 5036 cannot exceed the total tokens limit 4096 for this model"
    who: "watsonx",
    says: /number of input tokens [\d,]+ cannot exceed/i,
    limit: /total tokens limit ([\d,]+)/i,
  },
  { who: "Volcengine", says: /exceed max message tokens/i },
]

const maxMatchedCharacters = 2000
/** Quotations that long are somebody's input; field names are shorter. */
const longestName = 48

/** The text that rules are matched in: short, and without what it quotes of the user's words. */
export function withoutQuotations(text: string): string {
  const piece = withoutData(text.slice(0, maxMatchedCharacters))
  const kept: string[] = []
  let from = 0
  for (const match of piece.matchAll(/(?<![\w'"`])(["'`])/g)) {
    if (match.index < from) continue
    const close = findClose(piece, match.index + 1, match[1] ?? "")
    if (close - match.index <= longestName) continue
    kept.push(piece.slice(from, match.index), " … ")
    from = close + 1
  }
  kept.push(piece.slice(from))
  return kept.join("")
}

/** Errors inside JSON have been read by now (see cause.ts); what is left of it is data of the request. */
function withoutData(text: string): string {
  const open = text.search(/\{ ?["']/)
  if (open < 0) return text
  const close = text.lastIndexOf("}")
  return `${text.slice(0, open)} … ${close < open ? "" : text.slice(close + 1)}`
}

/** The quotation mark that ends it: no letter follows, as one does in "model's". -1: it never ends. */
function findClose(text: string, from: number, quote: string): number {
  for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, at + 1)) {
    if (!/\w/.test(text.charAt(at + 1))) return at
  }
  return -1
}

/** Limits of a minute or a day speak of tokens too. */
const ratePattern =
  /tokens? per[ -](?:second|min|hour|day)|rate[ _-]?limit|too many requests|\bTP[MDS]\b|wait before trying/i

export function saysTooLong(text: string): boolean {
  const words = withoutQuotations(text)
  if (exceedsMinute(words) !== undefined) return true
  return !ratePattern.test(words) && wordings.some((row) => row.says.test(words))
}

/** The limit in tokens that such words name: the caller can shorten to it. */
export function readLimit(text: string): number | undefined {
  const words = withoutQuotations(text)
  const minute = exceedsMinute(words)
  if (minute !== undefined) return minute
  for (const row of wordings) {
    const written = row.says.test(words) ? row.limit?.exec(words)?.[1] : undefined
    const limit = written === undefined ? Number.NaN : Number(written.replaceAll(/[,_]/g, ""))
    if (limit >= 1 && limit <= 1e9) return limit
  }
  return undefined
}

/**
 * "Request too large for model `x` ... on tokens per minute (TPM): Limit 6000, Requested 14137" (Groq 413, OpenAI 429):
 * more than a whole minute's tokens in one request. No waiting helps, a shorter request does.
 */
function exceedsMinute(words: string): number | undefined {
  if (!/request too large/i.test(words)) return undefined
  const match = /limit:? ([\d,]+), requested:? ([\d,]+)/i.exec(words)
  const [limit, requested] = [match?.[1], match?.[2]].map((written) => Number((written ?? "").replaceAll(",", "")))
  return limit !== undefined && requested !== undefined && limit > 0 && requested > limit ? limit : undefined
}
