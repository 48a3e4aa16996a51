/** Paths relative to the root. */
export function unitTestsOf(root: string): string[]
/** By test the hash of what it is made of, Node and the installed packages included. */
export function hashesOf(root: string, tests: readonly string[]): Map<string, string>
