import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules, settled } from "../../test/support/page-modules.ts"

/** As much of an element as the page asks of one. */
class Part extends EventTarget {
  readonly inside: unknown[] = []
  readonly style = {}
  id = ""
  value = ""
  textContent = ""
  append = (...parts: unknown[]) => void this.inside.push(...parts)
  replaceChildren = (...parts: unknown[]) => void this.inside.splice(0, Infinity, ...parts)
  setAttribute = () => undefined
  getContext = () => undefined
  focus = () => undefined
}

test("when the page of a tab that has gone is opened again, what is typed goes to the new tab, and there alone", async () => {
  const parts: Part[] = []
  const make = () => {
    const part = new Part()
    parts.push(part)
    return part
  }
  const inputs: [key: string, events: unknown][] = []
  let claims = 0
  const gone = { error: { code: "tab-gone", message: "The tab of this link is gone" } }
  const fetch = async (path: string, { headers, body }: { headers: Record<string, string>; body?: string }) => {
    const key = (headers["authorization"] ?? "").replace("Bearer ", "")
    if (path === "/takeover/claim") return Response.json({ key: `key ${(claims += 1)}`, reason: "" })
    if (path === "/takeover/input") inputs.push([key, (JSON.parse(body ?? "") as { events: unknown }).events])
    if (key === "key 1") return Response.json(gone, { status: 410 })
    return path === "/takeover/stream" ? new Response(new ReadableStream()) : Response.json({ ok: true })
  }
  Object.assign(globalThis, {
    document: { createElement: make, body: new Part() },
    location: { hash: "#token", pathname: "/takeover/" },
    history: { replaceState: () => undefined },
    sessionStorage: { setItem: () => undefined, removeItem: () => undefined, getItem: () => null },
    ResizeObserver: class {
      observe = () => undefined
    },
    fetch,
  })
  await loadPageModules("takeover/main.ts")
  await settled()
  const button = parts.find(({ textContent }) => textContent === "Open its page again")
  button?.dispatchEvent(new Event("click"))
  await settled()
  const keys = parts.find(({ id }) => id === "keys") as Part
  keys.value = "hello"
  keys.dispatchEvent(new Event("input"))
  await settled()
  assert.deepEqual(inputs, [["key 2", [{ kind: "text", text: "hello" }]]])
})
