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

interface Asked {
  path: string
  key: string
  body: { token?: string; again?: boolean; key?: string; events?: unknown }
}

/** The page, opened anew in this tab of a browser; gives its parts. */
async function open(hash: string, stored: Map<string, string>, answer: (asked: Asked) => Response) {
  const parts: Part[] = []
  const make = () => {
    const part = new Part()
    parts.push(part)
    return part
  }
  const location = { hash, pathname: "/takeover/" }
  Object.assign(globalThis, {
    document: { createElement: make, body: new Part() },
    location,
    history: { replaceState: () => (location.hash = "") },
    sessionStorage: {
      setItem: (name: string, value: string) => void stored.set(name, value),
      removeItem: (name: string) => void stored.delete(name),
      getItem: (name: string) => stored.get(name) ?? null,
    },
    ResizeObserver: class {
      observe = () => undefined
    },
    async fetch(path: string, { headers, body }: { headers: Record<string, string>; body?: string }) {
      const key = (headers["authorization"] ?? "").replace("Bearer ", "")
      return answer({ path, key, body: JSON.parse(body ?? "{}") as Asked["body"] })
    },
  })
  await loadPageModules("takeover/main.ts")
  await settled()
  return parts
}

const gone = () =>
  Response.json({ error: { code: "tab-gone", message: "The tab of this link is gone" } }, { status: 410 })
const used = () => Response.json({ error: { code: "unauthorized", message: "This link was used" } }, { status: 401 })
const good = () => Response.json({ ok: true, reason: "Sign in" })
const live = () => new Response(new ReadableStream())

async function openItsPageAgain(parts: Part[]): Promise<void> {
  const button = parts.findLast(({ textContent }) => textContent === "Open its page again")
  button?.dispatchEvent(new Event("click"))
  await settled()
}

test("when the page of a tab that has gone is opened again, what is typed goes to the new tab, and there alone", async () => {
  const claims: Asked["body"][] = []
  const inputs: [key: string, events: unknown][] = []
  const parts = await open("#token", new Map(), ({ path, key, body }) => {
    if (path === "/takeover/claim") claims.push(body)
    else if (key === claims[0]?.key) return gone()
    if (path === "/takeover/input") inputs.push([key, body.events])
    return path === "/takeover/stream" ? live() : good()
  })
  await openItsPageAgain(parts)
  const keys = parts.find(({ id }) => id === "keys") as Part
  keys.value = "hello"
  keys.dispatchEvent(new Event("input"))
  await settled()
  assert.equal(claims[1]?.token, claims[0]?.key)
  assert.deepEqual(inputs, [[claims[1]?.key, [{ kind: "text", text: "hello" }]]])
})

test("a link whose answer was lost is not lost with it", async ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] })
  const claims: Asked["body"][] = []
  const streams: string[] = []
  await open("#token", new Map(), ({ path, key, body }) => {
    if (path === "/takeover/claim") {
      // The gateway has used the link up by the first.
      if (claims.push(body) === 1) throw new TypeError("fetch failed")
      return used()
    }
    if (path === "/takeover/stream") streams.push(key)
    return path === "/takeover/stream" ? live() : key === claims[0]?.key ? good() : used()
  })
  assert.equal(claims.length, 1)
  mock.timers.tick(500)
  await settled()
  assert.deepEqual(claims[1], claims[0])
  assert.deepEqual(streams, [claims[0]?.key])
})

test("the page of a tab that has gone can be opened again also when this one was read anew", async () => {
  const stored = new Map<string, string>()
  const claims: Asked["body"][] = []
  const answer = ({ path, body }: Asked) => {
    if (path !== "/takeover/claim") return path === "/takeover/stream" ? live() : good()
    claims.push(body)
    return body.again ? good() : gone()
  }
  await open("#token", stored, answer)
  await openItsPageAgain(await open("", stored, answer))
  assert.deepEqual(
    claims.map(({ token, again }) => [token, again]),
    [
      ["token", false],
      ["token", false],
      ["token", true],
    ],
  )
})
