// Errors that stand where a reply should: what is one, and what of it is reported.
import { isJsonObject, type Json, type JsonObject } from "../../kernel/index.ts"

/** The error in a chunk, as it stood; undefined where there is none. */
export function reportIn(chunk: JsonObject): Json | undefined {
  const { error } = chunk
  // Fields beside a text say more of it (xAI's `code`); beside an object stand parts of a chunk.
  if (isJsonObject(error) && Object.keys(error).length > 0) return error
  if (typeof error === "string" && error !== "") return chunk
  if (chunk["object"] === "error" || chunk["type"] === "error") return chunk
  if (Array.isArray(chunk["choices"])) return undefined
  const { detail, message } = chunk
  if (detail !== undefined && detail !== null) return chunk
  // Cerebras and Bedrock: the fields of an error without one around them.
  if (typeof message === "string" && message !== "") return chunk
  return undefined
}
