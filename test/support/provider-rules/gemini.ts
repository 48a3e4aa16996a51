// Gemini's own interface (`:streamGenerateContent`): turns and their order, function calls and signatures of thought,
// schemas. Texts: "Function calling", "Thought signatures" and "Thinking" guides, and the issues at each rule.
import { isJsonObject, type JsonObject } from "../../../src/kernel/index.ts"
import type { Dialect, Fault, Rule } from "./contract.ts"
import { geminiKey } from "./credentials.ts"
import { badSchemas, unknownNames } from "./gemini-schema.ts"
import { firstFault, firstRepeated, objectOf, objectsOf, pathOf, textOf, unknownKeys } from "./read.ts"

/** API reference, "models.generateContent"; JSON takes both spellings. */
const known: ReadonlySet<string> = new Set(
  (
    "contents tools toolConfig safetySettings systemInstruction generationConfig cachedContent labels serviceTier store " +
    "tool_config safety_settings system_instruction generation_config cached_content model"
  ).split(" "),
)

function contentsOf(body: JsonObject): JsonObject[] {
  return objectsOf(body.contents)
}

function partsOf(content: JsonObject | undefined): JsonObject[] {
  return objectsOf(content?.parts)
}

const countOf = (content: JsonObject | undefined, key: string) => partsOf(content).filter((part) => key in part).length

function declarationsOf(body: JsonObject): { declaration: JsonObject; at: string }[] {
  return objectsOf(body.tools).flatMap((tool, index) =>
    objectsOf(tool.functionDeclarations ?? tool.function_declarations).map((declaration, position) => ({
      declaration,
      at: `tools[${index}].function_declarations[${position}]`,
    })),
  )
}

/** The model stands in the path: `/v1beta/models/gemini-3-pro:streamGenerateContent`. */
export function geminiModel(path: string): string {
  const last = pathOf(path).split("/").at(-1) ?? ""
  return last.slice(0, last.indexOf(":"))
}

const fields: Rule = ({ body }) => {
  const [unknown] = unknownKeys(body, known)
  if (unknown === undefined) return undefined
  return { message: `Invalid JSON payload received. Unknown name "${unknown}": Cannot find field.` }
}

const hasContents: Rule = ({ body }) => {
  if (contentsOf(body).length === 0) {
    return { message: "* GenerateContentRequest.contents: contents is not specified\n" }
  }
  return firstFault(contentsOf(body), (content, index) => {
    if (content.role !== undefined && content.role !== "user" && content.role !== "model") {
      return { message: "Please use a valid role: user, model." }
    }
    if (partsOf(content).length > 0) return undefined
    return { message: `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.\n` }
  })
}

const dataKeys = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
]

const partsHaveData: Rule = ({ body }) =>
  firstFault(contentsOf(body), (content, index) =>
    firstFault(partsOf(content), (part, position) => {
      if (dataKeys.some((key) => key in part)) return undefined
      const place = `GenerateContentRequest.contents[${index}].parts[${position}].data`
      return { message: `* ${place}: required oneof field 'data' must have one initialized field\n` }
    }),
  )

// Vertex's words; a part without words that carries a signature is the service's own and goes back as it came
const textIsNotBlank: Rule = ({ body }) =>
  firstFault(contentsOf(body), (content) =>
    firstFault(partsOf(content), (part) =>
      part.text === "" && part.thoughtSignature === undefined
        ? {
            message:
              "Unable to submit request because it must have a text parameter. Add a text parameter and try again.",
          }
        : undefined,
    ),
  )

// google-gemini/gemini-cli#11814 and #26486
const callsFollowUsers: Rule = ({ body }) => {
  const contents = contentsOf(body)
  return firstFault(contents, (content, index) => {
    if (countOf(content, "functionCall") === 0 || contents[index - 1]?.role === "user") return undefined
    return {
      message:
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
    }
  })
}

// GoogleCloudPlatform/generative-ai#368, langchain-ai/langchain#27799
const responsesFollowCalls: Rule = ({ body }) => {
  const contents = contentsOf(body)
  return firstFault(contents, (content, index) => {
    const responses = countOf(content, "functionResponse")
    if (responses === 0 || countOf(contents[index - 1], "functionCall") > 0) return undefined
    return { message: "Please ensure that function response turn comes immediately after a function call turn." }
  })
}

// google-gemini/gemini-cli#16543
const responsesAreAsManyAsCalls: Rule = ({ body }) => {
  const contents = contentsOf(body)
  return firstFault(contents, (content, index) => {
    const calls = countOf(content, "functionCall")
    if (calls === 0 || calls === countOf(contents[index + 1], "functionResponse")) return undefined
    return {
      message:
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    }
  })
}

// crewAIInc/crewAI#6973
const endsWithUser: Rule = ({ body }) =>
  contentsOf(body).at(-1)?.role === "model"
    ? { message: "Please ensure that multiturn requests end with a user role or a function response." }
    : undefined

const responsesHaveNames: Rule = ({ body }) =>
  firstFault(contentsOf(body), (content, index) =>
    firstFault(partsOf(content), (part, position) => {
      if (!("functionResponse" in part) || textOf(objectOf(part.functionResponse).name) !== "") return undefined
      const place = `GenerateContentRequest.contents[${index}].parts[${position}].function_response.name`
      return { message: `* ${place}: Name cannot be empty.\n` }
    }),
  )

// The API reference has `response` as an object
const responsesAreObjects: Rule = ({ body }) =>
  firstFault(contentsOf(body), (content, index) =>
    firstFault(partsOf(content), (part, position) => {
      if (!("functionResponse" in part) || isJsonObject(objectOf(part.functionResponse).response)) return undefined
      const place = `contents[${index}].parts[${position}].function_response.response`
      return { message: `Invalid value at '${place}' (type.googleapis.com/google.protobuf.Struct)` }
    }),
  )

// kaitranntt/ccs#25, google-gemini/gemini-cli#7869
const functionNames: Rule = ({ body }) =>
  firstFault(declarationsOf(body), ({ declaration, at }) => {
    if (/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/.test(textOf(declaration.name))) return undefined
    const words =
      "[FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64."
    return { message: `The GenerateContentRequest proto is invalid:\n  * ${at}.name: ${words}` }
  })

const functionNamesUnique: Rule = ({ body }) => {
  const repeated = firstRepeated(declarationsOf(body).map(({ declaration }) => textOf(declaration.name)))
  return repeated === undefined ? undefined : { message: `Duplicate function declaration found: ${repeated}` }
}

const schemaFields: Rule = ({ body }) => {
  const lines = declarationsOf(body).flatMap(({ declaration, at }) =>
    isJsonObject(declaration.parameters) ? unknownNames(declaration.parameters, `${at}.parameters`) : [],
  )
  return lines.length === 0 ? undefined : { message: lines.join("\n") }
}

const schemas: Rule = ({ body }) => {
  const lines = declarationsOf(body).flatMap(({ declaration, at }) => {
    const { parameters } = declaration
    if (!isJsonObject(parameters)) return []
    const place = `GenerateContentRequest.${at}.parameters`
    const isEmpty = Object.keys(objectOf(parameters.properties)).length === 0
    const empty = isEmpty ? [`${place}.properties: should be non-empty for OBJECT type`] : []
    return [...empty, ...badSchemas(parameters, place)]
  })
  return lines.length === 0 ? undefined : { message: lines.map((line) => `* ${line}\n`).join("") }
}

/** Documented for history that other models wrote. */
const anySignature: ReadonlySet<string> = new Set([
  "skip_thought_signature_validator",
  "context_engineering_is_the_way_to_go",
])

/** The contents of the turn that is going on: all behind the last words of the user. */
function currentTurn(body: JsonObject): { content: JsonObject; index: number }[] {
  const contents = contentsOf(body).map((content, index) => ({ content, index }))
  const start = contents.findLastIndex(
    ({ content }) => content.role === "user" && countOf(content, "functionResponse") === 0,
  )
  return contents.slice(start + 1)
}

// lbjlaq/Antigravity-Manager#139, langroid/langroid#969; of calls made together only the first is signed
const thoughtSignatures: Rule = ({ body, path }) => {
  if (!/^gemini-([3-9]|\d\d)/.test(geminiModel(path))) return undefined
  return firstFault(currentTurn(body), ({ content, index }) => {
    const first = partsOf(content).find((part) => "functionCall" in part)
    if (!first || textOf(first.thoughtSignature) !== "") return undefined
    const name = textOf(objectOf(first.functionCall).name)
    const message = `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${index + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`
    return { message }
  })
}

// "Thought signatures" guide: they go back in the very part they came with
const signaturesAreOurs: Rule = ({ body }, issued) => {
  if (!issued.hasSignatures()) return undefined
  const signed = contentsOf(body)
    .flatMap(partsOf)
    .map((part) => textOf(part.thoughtSignature))
  const foreign = signed.find(
    (signature) => signature !== "" && !anySignature.has(signature) && !issued.knowsSignature(signature),
  )
  return foreign === undefined ? undefined : { message: "Corrupted thought signature." }
}

const pictureTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"])

// "Image understanding" guide: GIF is not among them
const pictures: Rule = ({ body }) => {
  const inResponses = (part: JsonObject) => objectsOf(objectOf(part.functionResponse).parts)
  const parts = contentsOf(body).flatMap(partsOf)
  return firstFault([...parts, ...parts.flatMap(inResponses)], (part) => {
    const type = textOf(objectOf(part.inlineData).mimeType)
    if (!type.startsWith("image/") || pictureTypes.has(type)) return undefined
    return { message: `Unsupported MIME type: ${type}` }
  })
}

// "Thinking" guide: a level for Gemini 3, a budget for 2.5, one of them alone
const thinking: Rule = ({ body, path }) => {
  const config = objectOf(objectOf(body.generationConfig).thinkingConfig)
  const { thinkingLevel: level, thinkingBudget: tokens } = config
  const model = geminiModel(path)
  if (level !== undefined && tokens !== undefined) {
    return { message: "You can only set only one of thinking budget and thinking level." }
  }
  if (level !== undefined && model.startsWith("gemini-2")) {
    return { message: "Thinking level is not supported for this model." }
  }
  if (/^gemini-3.*-pro/.test(model) && String(level).toUpperCase() === "MINIMAL") {
    const words = "Thinking level MINIMAL is not supported for this model. Please retry with other thinking level."
    return { message: words }
  }
  if (tokens !== 0 || !model.startsWith("gemini-2.5-pro")) return undefined
  return { message: "Budget 0 is invalid. This model only works in thinking mode." }
}

const rules: readonly Rule[] = [
  fields,
  schemaFields,
  hasContents,
  partsHaveData,
  textIsNotBlank,
  responsesAreObjects,
  responsesHaveNames,
  functionNames,
  functionNamesUnique,
  schemas,
  callsFollowUsers,
  responsesFollowCalls,
  responsesAreAsManyAsCalls,
  endsWithUser,
  thoughtSignatures,
  signaturesAreOurs,
  pictures,
  thinking,
]

function errorBody(fault: Fault, status: number) {
  return { error: { code: status, message: fault.message, status: fault.type ?? "INVALID_ARGUMENT" } }
}

export const gemini: Dialect = { rules, credentials: geminiKey, errorBody }
