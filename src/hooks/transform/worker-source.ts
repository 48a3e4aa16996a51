// The program of a transform's thread, as text: the gateway is shipped as bundles, where a thread has no file of its
// own to start from. It imports one module, calls functions of it, and answers each call with JSON.

/** Messages in: `{id, module, exportName, input}`. Out: `{id, started: true}`, then `{id, json}` or `{id, error}`. */
export const workerSource = `
"use strict"
const { parentPort } = require("node:worker_threads")
const maxJson = 1024 * 1024
const functions = new Map()

async function find(module, exportName) {
  const key = exportName ?? ""
  if (!functions.has(key)) {
    const loaded = await import(module)
    const found = exportName === undefined ? (loaded.default ?? loaded.transform) : loaded[exportName]
    if (typeof found !== "function") throw new Error("the module has no function " + (exportName ?? "as its default export"))
    functions.set(key, found)
  }
  return functions.get(key)
}

async function call({ id, module, exportName, input }) {
  parentPort.postMessage({ id, started: true })
  try {
    const transform = await find(module, exportName)
    const result = await transform({ ...input, url: new URL(input.url) })
    const json = result === undefined ? "{}" : JSON.stringify(result)
    if (json === undefined) throw new Error("the function returned something that is no JSON")
    if (json.length > maxJson) throw new Error("the function returned more than " + maxJson + " characters")
    parentPort.postMessage({ id, json })
  } catch (error) {
    parentPort.postMessage({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

parentPort.on("message", (message) => void call(message))
`
