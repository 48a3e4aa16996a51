// What the bundles of the gateway have in common, those that are shipped and that of the tests.
import { dirname, join } from "node:path"
import type { BuildOptions, Plugin } from "esbuild"
import { asciiOutput } from "./ascii-output.ts"

/**
 * An ESM import of node:http reads every one of its exports, and with the WebSocket among them loads all of Node's own
 * fetch: 30 ms of a start. As CommonJS only what is used is loaded.
 */
const requireHttp: Plugin = {
  name: "require-http",
  setup(build) {
    build.onResolve({ filter: /^(node:)?https?$/ }, ({ path, kind }) =>
      kind === "import-statement" ? { path: path.replace(/^(node:)?/, "node:"), namespace: "required" } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: "required" }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)})`,
    }))
  },
}

/**
 * Modules of Node's own that most commands never use are loaded by the first use of anything in them: child processes and
 * cryptography take five of the twenty-five milliseconds that a command takes beyond Node's own start.
 */
const rarelyUsed = ["child_process", "crypto", "fs/promises", "os", "readline", "readline/promises"]

export const loadedWhenUsed: Plugin = {
  name: "loaded-when-used",
  setup(build) {
    build.onResolve({ filter: /^(node:)?[a-z_]+(\/promises)?$/ }, ({ path, namespace }) => {
      const name = path.replace(/^node:/, "")
      if (namespace === "when-used" || !rarelyUsed.includes(name)) return undefined
      return { path: `node:${name}`, namespace: "when-used" }
    })
    build.onLoad({ filter: /.*/, namespace: "when-used" }, ({ path }) => {
      const names = Object.keys(process.getBuiltinModule(path) as object)
      const getters = names.map((name) => `get ${name}() { return load().${name} }`)
      return {
        contents: `const load = () => require(${JSON.stringify(path)})\nmodule.exports = { ${getters.join(", ")} }`,
      }
    })
  },
}

/** The messages of zod in all its languages are half of it, and only the English ones are ever used. */
const zodInEnglish: Plugin = {
  name: "zod-in-english",
  setup(build) {
    build.onResolve({ filter: /\/locales\/index\.js$/ }, ({ importer, path }) =>
      /[\\/]node_modules[\\/]zod[\\/]/.test(importer)
        ? { path: join(dirname(importer), dirname(path), "en.js") }
        : undefined,
    )
  },
}

export const moduleOptions = {
  bundle: true,
  splitting: true,
  platform: "node",
  format: "esm",
  target: "node22.18",
  logLevel: "warning",
  outExtension: { ".js": ".mjs" },
  external: ["playwright-core"],
  plugins: [requireHttp, zodInEnglish, asciiOutput],
  // Bundled CommonJS packages call require() for Node's own modules.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
} satisfies BuildOptions
