// The product, through its public control API with the preset for models.
import { type BrowserBench, startBrowserBench } from "../../support/browser-service.ts"
import type { Hand, Outcome } from "../hand.ts"

/** `behind`: another tab is brought to the front as soon as the page is there. */
export async function svcHand({ behind = false } = {}): Promise<Hand> {
  const bench = await startBrowserBench()
  const spent = { calls: 0, chars: 0 }
  let targetId = ""
  let front: string | undefined
  const call = async (method: string, path: string, body?: object): Promise<{ ok: boolean; body: Reply }> => {
    spent.calls += 1
    const reply = await bench.call(method, path, body)
    return { ok: reply.status === 200, body: reply.body as Reply }
  }
  const act = async (request: object): Promise<Outcome> => {
    const { ok, body } = await call("POST", "/act", { targetId, ...request })
    const { error, ...rest } = body
    const said = error ? `${error.message} ${error.hint ?? ""}` : JSON.stringify(rest)
    spent.chars += said.length
    return { ok, said }
  }
  return {
    name: "svc",
    spent,
    async open(url) {
      const { ok, body } = await call("POST", "/tabs/open", { url })
      if (!ok || body.targetId === undefined) throw new Error(`not opened: ${JSON.stringify(body)}`)
      targetId = body.targetId
      if (!behind) return
      front ??= (await call("POST", "/tabs/open", { url })).body.targetId
      await call("POST", "/tabs/focus", { targetId: front })
    },
    async look(kind) {
      const mode = kind === "short" ? "efficient" : "full"
      const { ok, body } = await call("GET", `/snapshot?targetId=${targetId}&mode=${mode}`)
      if (!ok || body.snapshot === undefined) throw new Error(`no snapshot: ${JSON.stringify(body)}`)
      spent.chars += body.snapshot.length
      return body.snapshot
    },
    click: (ref, { double = false } = {}) => act({ kind: "click", ref, ...(double ? { doubleClick: true } : {}) }),
    type: (ref, text) => act({ kind: "type", ref, text }),
    press: (key) => act({ kind: "press", key }),
    drag: (startRef, endRef) => act({ kind: "drag", startRef, endRef }),
    select: (ref, value) => act({ kind: "select", ref, values: [value] }),
    scroll: (ref) => act({ kind: "scroll", ...(ref === undefined ? {} : { ref }), direction: "down" }),
    isDone: () => isDone(bench, targetId),
    stop: () => bench.stop(),
  }
}

interface Reply {
  targetId?: string
  snapshot?: string
  error?: { message: string; hint?: string }
}

async function isDone(bench: BrowserBench, targetId: string): Promise<boolean> {
  const request = { kind: "evaluate", targetId, fn: "() => globalThis.isDone()" }
  const { body } = await bench.call("POST", "/act", request)
  return (body as { result?: unknown }).result === true
}
