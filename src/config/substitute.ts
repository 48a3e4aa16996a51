// `${NAME}` in string values -> the variable's value. Only upper-case letters, digits and underscores make a name;
// `$${NAME}` is the literal text; any other dollar stays as it is. Keys are never touched.
import type { Variables } from "./environment.ts"

const pattern = /\$(\$?)\{([A-Z_][A-Z0-9_]*)\}/g

export interface Substituted {
  text: string
  /** Variables that are unset or empty. */
  missing: string[]
}

export function substituteVariables(text: string, variables: Variables): Substituted {
  const missing: string[] = []
  const result = text.replace(pattern, (whole, escape: string, name: string) => {
    if (escape !== "") return whole.slice(1)
    const value = variables[name]
    if (value !== undefined && value !== "") return value
    missing.push(name)
    return whole
  })
  return { text: result, missing }
}

/** Whether the text is one placeholder and nothing else, and so shows nothing secret. */
export function isPlaceholder(text: string): boolean {
  return /^\$\{[A-Z_][A-Z0-9_]*\}$/.test(text)
}
