// Words as one types them in a shell.

/** One word of a command line, in quotes where the shell would take it for more than a word. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : inQuotes(text)
}

/** In single quotes, whatever stands in it. */
export function inQuotes(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
