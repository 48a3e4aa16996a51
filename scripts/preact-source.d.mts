import type { Plugin } from "esbuild"

export const unused: Readonly<Record<"values" | "flags" | "properties" | "methods" | "words", readonly string[]>>
export const preactSource: Plugin
export function withoutUnused(code: string): string
