// Secrets in configuration values: masked for every dump, and listed for the redactor of the log.
// The schema says which keys are secret; keys that it does not know are judged by their name.
import type { z } from "zod"
import { configSchema } from "./schema.ts"
import { childSchemas, openSchema } from "./schema-walk.ts"
import { isPlaceholder } from "./substitute.ts"

export const mask = "***"

const suspiciousName = /token|secret|passw|api_?key|credential|authorization|cdpurl|private_?key/i

/** The value with every secret as `***`; works on the validated configuration and on what the file says. */
export function redactConfig(value: unknown): unknown {
  return mapSecrets(value, [configSchema], "", (text) => (text === "" || isPlaceholder(text) ? text : mask))
}

/** Like `redactConfig`, for a value that stands below the root. */
export function redactAt(value: unknown, schemas: z.core.$ZodType[], name: string): unknown {
  return mapSecrets(value, schemas, name, (text) => (text === "" || isPlaceholder(text) ? text : mask))
}

/** All secret values of a validated configuration, with the credentials inside URLs also by themselves. */
export function collectSecrets(config: unknown): string[] {
  const found = new Set<string>()
  mapSecrets(config, [configSchema], "", (text, name) => {
    // The `env` section also holds ordinary variables; masking `en_US` everywhere would ruin the log.
    if (!isEnvironmentName(name) || /KEY|TOKEN|SECRET|PASS|AUTH|CRED/.test(name)) {
      for (const part of secretParts(text)) found.add(part)
    }
    return text
  })
  return [...found].filter((text) => text !== "")
}

type Replace = (text: string, name: string) => string

function mapSecrets(value: unknown, schemas: z.core.$ZodType[], name: string, replace: Replace): unknown {
  const secret =
    schemas.length > 0 ? schemas.some((schema) => openSchema(schema).meta.secret === true) : suspiciousName.test(name)
  if (typeof value === "string") return secret ? replace(value, name) : value
  // A secret that was written as a number is still one.
  if (typeof value === "number") return secret ? replace(String(value), name) : value
  if (Array.isArray(value)) {
    return value.map((element, index) => mapSecrets(element, below(schemas, index), name, replace))
  }
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      mapSecrets(member, below(schemas, key), secret ? name : key, replace),
    ]),
  )
}

function below(schemas: z.core.$ZodType[], segment: string | number): z.core.$ZodType[] {
  return schemas.flatMap((schema) => childSchemas(schema, segment))
}

function isEnvironmentName(name: string): boolean {
  return /^[A-Z_][A-Z0-9_]*$/.test(name)
}

function secretParts(text: string): string[] {
  if (!URL.canParse(text) || !text.includes("://")) return [text]
  const url = new URL(text)
  // Only where something is: the log must be able to name it.
  if (url.href.replace(/\/$/, "") === `${url.protocol}//${url.host}`) return []
  // A user name alone is a token (https://TOKEN@host); beside a password it is only a name.
  const userinfo = url.password === "" ? url.username : url.password
  const parts = [userinfo, ...url.searchParams.values()].filter((part) => part !== "")
  return [text, ...parts, ...parts.map(decode)]
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}
