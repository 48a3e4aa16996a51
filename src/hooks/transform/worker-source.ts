// The program of a transform's thread, as text: the gateway is shipped as bundles, where a thread has no file of its
// own to start from. It imports one module, calls functions of it, and answers each call with JSON. Every file that is
// imported on the way is told to the gateway, which starts anew when one changes; none may lie outside the folder of the
// transforms (`workerData.root`), apart from installed packages, whatever links say.

/**
 * Messages in: `{id, module, exportName, input}`. Out: `{imported: path, version}` for each file, `{id, started: true}`, then
 * `{id, json}` or `{id, error}`, with `broken: true` when the module could not be loaded.
 */
export const workerSource = `
"use strict"
const { parentPort, workerData } = require("node:worker_threads")
const { registerHooks } = require("node:module")
const { closeSync, fstatSync, openSync, readFileSync, readlinkSync, realpathSync } = require("node:fs")
const { fileURLToPath } = require("node:url")
const { sep } = require("node:path")
const maxJson = 1024 * 1024
const functions = new Map()
let broken = false

function isAllowed(path) {
  return path.startsWith(workerData.root + sep) || path.includes(sep + "node_modules" + sep)
}

// What was opened counts, not what the name stands for by then.
function read(path) {
  const descriptor = openSync(path, "r")
  try {
    const real = process.platform === "linux" ? readlinkSync("/proc/self/fd/" + descriptor) : realpathSync(path)
    if (!isAllowed(real)) throw new Error("it imports a file outside hooks.transformsDir")
    const { mtimeMs, size, ino } = fstatSync(descriptor)
    parentPort.postMessage({ imported: path, version: mtimeMs + ":" + size + ":" + ino })
    return readFileSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith("file:")) return nextLoad(url, context)
    const path = fileURLToPath(url)
    const source = read(path)
    const loaded = nextLoad(url, context)
    return loaded.source == null ? loaded : { ...loaded, source }
  },
})

async function load(module) {
  try {
    return await import(module)
  } catch (error) {
    broken = true
    throw error
  }
}

async function find(module, exportName) {
  const key = exportName ?? ""
  if (!functions.has(key)) {
    const loaded = await load(module)
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
    const words = error instanceof Error ? (error.stack ?? error.message) : String(error)
    parentPort.postMessage(broken ? { id, error: words, broken } : { id, error: words })
  }
}

parentPort.on("message", (message) => void call(message))
`
