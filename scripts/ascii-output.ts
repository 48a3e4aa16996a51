// Writes bundles in ASCII alone. V8 keeps the text of a program for as long as it runs, and with two bytes a character as
// soon as one of them is beyond Latin-1: a few such words in comments and expressions would cost every gateway megabytes.
import { mkdir, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { parse } from "acorn"
import { simple } from "acorn-walk"
import type { Plugin } from "esbuild"

const beyondAscii = /[\u0080-\uffff]/g

/** esbuild itself escapes strings, and leaves expressions and comments as they are. */
export const asciiOutput: Plugin = {
  name: "ascii-output",
  setup(build) {
    // Whoever writes nothing wants to know only what would be in it.
    if (build.initialOptions.write === false) return
    build.initialOptions.write = false
    build.onEnd(async ({ outputFiles = [] }) => {
      for (const { path, contents, text } of outputFiles) {
        await mkdir(dirname(path), { recursive: true })
        await writeFile(path, /\.[cm]?js$/.test(path) ? escapeBeyondAscii(text, path.endsWith(".cjs")) : contents)
      }
    })
  },
}

/** The same program. Throws where an escape would be seen by it: in the raw text of a tagged template. */
export function escapeBeyondAscii(program: string, isCommonJs = false): string {
  if (program.search(beyondAscii) === -1) return program
  simple(parse(program, { ecmaVersion: "latest", sourceType: isCommonJs ? "commonjs" : "module" }), {
    TaggedTemplateExpression({ quasi }) {
      const text = program.slice(quasi.start, quasi.end)
      if (text.search(beyondAscii) !== -1) throw new Error(`a tagged template holds more than ASCII: ${text}`)
    },
  })
  return program.replaceAll(beyondAscii, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
}
