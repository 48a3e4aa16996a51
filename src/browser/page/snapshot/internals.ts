// What custom elements tell the browser alone (`ElementInternals`): roles, names, states and values. It is asked of the
// accessibility tree, one element at a time, and only where a page has such elements.
import { CdpError } from "../../cdp/index.ts"
import type { World } from "../frames.ts"
import type { Internals } from "../inject/agent.ts"

interface RemoteObject {
  objectId?: string
}

interface AccessibleNode {
  ignored: boolean
  role?: { value: string }
  name?: { value: string }
  value?: { value: string | number }
  properties?: { name: string; value: { value?: unknown } }[]
}

/** Elements that are asked about at once. */
const most = 100

/** Worlds in which such elements were met. */
const met = new WeakSet<World>()

/** Asks about elements that may be such; true when one of them is. */
export async function meetInternals(world: World, objectIds: readonly string[], signal: AbortSignal): Promise<boolean> {
  if (objectIds.length === 0 || !(await handIn(world, objectIds, signal))) return false
  met.add(world)
  // Its entries, which could not be told for such before.
  await followInternals(world, signal)
  return true
}

/** Asks again about those that are known: their states leave no trace in the document. */
export async function followInternals(world: World, signal: AbortSignal): Promise<void> {
  if (!met.has(world)) return
  const { session, contextId } = world
  const group = `${world.key}-internals`
  const { result: array } = await session.send<{ result: RemoteObject }>(
    "Runtime.evaluate",
    { expression: `globalThis[${JSON.stringify(world.key)}].selfNamed(${most})`, contextId, objectGroup: group },
    { signal },
  )
  try {
    const { result } = await session.send<{ result: { name: string; value?: RemoteObject }[] }>(
      "Runtime.getProperties",
      { objectId: array.objectId, ownProperties: true },
      { signal },
    )
    const ids = result.flatMap(({ name, value }) => (/^\d+$/.test(name) && value?.objectId ? [value.objectId] : []))
    if (ids.length > 0) await handIn(world, ids, signal)
  } finally {
    await session.send("Runtime.releaseObjectGroup", { objectGroup: group }, { signal })
  }
}

async function handIn(world: World, objectIds: readonly string[], signal: AbortSignal): Promise<boolean> {
  const { session, key, contextId } = world
  const told = await Promise.all(objectIds.map((objectId) => ask(world, objectId, signal)))
  const { result } = await session.send<{ result: { value?: boolean } }>(
    "Runtime.callFunctionOn",
    {
      executionContextId: contextId,
      functionDeclaration: `function (told, ...elements) { return globalThis[${JSON.stringify(key)}].internals(elements, told) }`,
      arguments: [{ value: told }, ...objectIds.map((objectId) => ({ objectId }))],
      returnByValue: true,
    },
    { signal },
  )
  return result.value === true
}

async function ask({ session }: World, objectId: string, signal: AbortSignal): Promise<Internals> {
  const nothing: Internals = { role: "", name: "", aria: {} }
  try {
    const { nodes } = await session.send<{ nodes: AccessibleNode[] }>(
      "Accessibility.getPartialAXTree",
      { objectId, fetchRelatives: false },
      { signal },
    )
    const [node] = nodes
    const role = node?.ignored === false ? (node.role?.value ?? "") : ""
    if (!node || !/^[a-z]+$/i.test(role) || role === "generic" || role === "none") return nothing
    return { role: role.toLowerCase(), name: node.name?.value ?? "", aria: statesIn(node) }
  } catch (error) {
    // It has left the page meanwhile.
    if (error instanceof CdpError) return nothing
    throw error
  }
}

function statesIn({ value, properties = [] }: AccessibleNode): Record<string, string> {
  const followed = /^(checked|pressed|selected|expanded|disabled|invalid|valuemin|valuemax|valuetext)$/
  const states = properties.flatMap(({ name, value: { value: told } }): [string, string][] =>
    followed.test(name) && told !== undefined && told !== "" ? [[name, String(told)]] : [],
  )
  const aria = Object.fromEntries(states)
  if (typeof value?.value === "number") aria["valuenow"] = String(value.value)
  return aria
}
