// What the gate holds up only ever grows, in whatever order it is asked for and whatever goes wrong in between.
import assert from "node:assert/strict"
import { test } from "node:test"
import { silentLog } from "../../../../test/support/store.ts"
import { AppError, createBackground } from "../../../kernel/index.ts"
import { CdpError, type CdpSession } from "../../cdp/index.ts"
import { RequestGate } from "./request-gate.ts"
import { createUrlPolicy, type UrlPolicy } from "./url-policy.ts"

interface Enabled {
  patterns: { urlPattern: string; resourceType?: string }[]
}

/** A browser's end of the session that keeps the last patterns it took, and refuses the calls of these numbers. */
function startGate(refused: readonly number[]) {
  let calls = 0
  let taken: Enabled["patterns"] = []
  const root = {
    on: () => () => undefined,
    async send(_method: string, { patterns }: Enabled) {
      calls += 1
      if (refused.includes(calls)) throw new Error("refused")
      taken = patterns
    },
  }
  const gate = new RequestGate({
    root: root as unknown as CdpSession,
    isHeldBack: () => false,
    policyFor: () => undefined,
    login: () => ({ response: "Default" }),
    background: createBackground(silentLog),
    log: silentLog,
  })
  return {
    gate,
    calls: () => calls,
    seesDocuments: () => taken.some(({ urlPattern, ...more }) => urlPattern === "*" && isDocument(more)),
  }
}

function isDocument({ resourceType }: { resourceType?: string }): boolean {
  return resourceType === undefined || resourceType === "Document"
}

for (const [name, refused] of [
  ["when all goes well", []],
  ["when a later kind was refused once", [2]],
  ["when it was refused twice", [2, 3]],
] as const) {
  test(`documents are still seen after other kinds were asked for, ${name}`, async () => {
    const { gate, seesDocuments } = startGate(refused)
    await gate.start("documents")
    for (const _refusal of refused) await assert.rejects(gate.start("unencrypted"), /refused/)
    await gate.start("unencrypted")
    assert.ok(seesDocuments())
    await gate.start("everything")
    await gate.start("unencrypted")
    assert.ok(seesDocuments())
  })
}

test("asks the browser only for what it does not see yet, or may have lost", async () => {
  const { gate, calls } = startGate([2])
  await gate.start("documents")
  await gate.start("documents")
  assert.equal(calls(), 1)
  await assert.rejects(gate.start("everything"), /refused/)
  await gate.start("documents")
  assert.equal(calls(), 3, "nobody knew what it saw")
  for (const sees of ["documents", "everything", "unencrypted"] as const) await gate.start(sees)
  assert.equal(calls(), 3)
})

test("answers each request once: let go, refused, or as a name that stands for nothing", async () => {
  const handlers = new Map<string, (event: object) => void>()
  const said: [string, Record<string, unknown>][] = []
  let trouble: unknown
  const root = {
    on: (method: string, handler: (event: object) => void) => handlers.set(method, handler),
    async send(method: string, parameters: Record<string, unknown>) {
      said.push([method, parameters])
      if (trouble !== undefined) throw trouble
    },
  }
  const names: Record<string, string[]> = { "inside.example": ["10.0.0.1"], "public.example": ["1.1.1.1"] }
  const resolve = async (name: string) => names[name] ?? []
  const strict = createUrlPolicy({ policy: "strict", allow: [], deny: [] }, resolve)
  const open = createUrlPolicy({ policy: "open", allow: [], deny: [] }, resolve)
  const policies: Record<string, UrlPolicy | undefined> = { strict, open, none: undefined }
  const background = createBackground(silentLog)
  const gate = new RequestGate({
    root: root as unknown as CdpSession,
    isHeldBack: ({ url, type, frameId }) => type === "Document" && frameId === "open" && url.includes("held"),
    policyFor: (frameId) => policies[frameId ?? ""],
    login: ({ origin }, { requestId, frameId }) =>
      origin === "http://a.example" && requestId === "1" && frameId === "open"
        ? { response: "CancelAuth" }
        : { response: "Default" },
    background,
    log: silentLog,
  })
  const ask = async (frameId: string, url: string, resourceType = "Image") => {
    handlers.get("Fetch.requestPaused")?.({ requestId: "1", request: { url }, frameId, resourceType })
    await background.idle()
    const [method, parameters] = said.pop() ?? []
    assert.deepEqual([said.length, parameters?.["requestId"]], [0, "1"])
    return method === "Fetch.continueRequest" ? "passes" : parameters?.["errorReason"]
  }
  for (const [frameId, url, verdict, type] of [
    ["none", "http://inside.example/", "passes"],
    ["open", "http://inside.example/", "passes"],
    ["open", "http://nowhere.example/", "passes"],
    ["open", "http://169.254.169.254/", "BlockedByClient"],
    ["open", "http://public.example/held", "BlockedByClient", "Document"],
    ["open", "http://public.example/held", "passes", "Image"],
    ["strict", "http://public.example/", "passes"],
    ["strict", "http://inside.example/", "BlockedByClient"],
    ["strict", "http://nowhere.example/", "NameNotResolved"],
    ["strict", "no address", "BlockedByClient"],
  ] as const)
    assert.equal(await ask(frameId, url, type), verdict, `${frameId} ${url}`)
  // The page gave it up, or the browser is gone.
  for (trouble of [new CdpError("Fetch.continueRequest", "Invalid InterceptionId"), new AppError("browser-lost", "")])
    await ask("none", "http://public.example/")
  trouble = undefined
  handlers.get("Fetch.authRequired")?.({
    requestId: "1",
    authChallenge: { origin: "http://a.example" },
    frameId: "open",
  })
  await background.idle()
  const answer = { requestId: "1", authChallengeResponse: { response: "CancelAuth" } }
  assert.deepEqual(said.splice(0), [["Fetch.continueWithAuth", answer]])
  for (const [sees, logins] of [
    ["documents", false],
    ["unencrypted", true],
  ] as const) {
    await gate.start(sees)
    assert.equal(said.pop()?.[1]["handleAuthRequests"], logins, sees)
  }
})
