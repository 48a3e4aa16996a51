// Modules of the page in this process, bundled as a browser gets them, with as much of a browser as those below the components
// need. The gateway's part is the test's.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { build } from "esbuild"
import { temporaryFolder } from "./temporary.ts"

export interface TestBrowser {
  /** What the page has asked for, in order. */
  asked: { path: string; body: unknown; answer(body: object, status?: number): void; fail(): void }[]
  /** Entries of the event stream, once it was asked for. */
  tell(event: string, data: object): void
}

/** What these files below `dashboard/` export; they share what they import. `startBrowser` comes before. */
export async function loadPageModules<Exports>(...files: string[]): Promise<Exports> {
  const resolveDir = join(import.meta.dirname, "../../dashboard")
  const contents = files.map((file) => `export * from ${JSON.stringify(`./${file}`)}`).join("\n")
  const jsx = { jsx: "automatic", jsxImportSource: "preact" } as const
  const built = await build({ stdin: { contents, resolveDir }, bundle: true, format: "esm", write: false, ...jsx })
  const path = join(temporaryFolder(), "page.mjs")
  writeFileSync(path, built.outputFiles[0]?.text ?? "")
  return (await import(path)) as Exports
}

export function startBrowser(): TestBrowser {
  const stored = new Map([
    ["svc-page-key", "key"],
    ["svc-page-who", JSON.stringify({ scopes: ["admin"], version: "1", session: null })],
  ])
  const asked: TestBrowser["asked"] = []
  let stream: ReadableStreamDefaultController<Uint8Array> | undefined
  let entries = 0
  const fetch = (path: string, { body, signal }: RequestInit) => {
    if (path.endsWith("/api/stream")) {
      return Promise.resolve(new Response(new ReadableStream({ start: (made) => void (stream = made) })))
    }
    const { promise, resolve, reject } = Promise.withResolvers<Response>()
    signal?.addEventListener("abort", () => reject(signal.reason as Error))
    asked.push({
      path: path.replace("../api/", ""),
      body: typeof body === "string" ? (JSON.parse(body) as unknown) : undefined,
      answer: (given, status = 200) => resolve(Response.json(given, { status })),
      fail: () => reject(new TypeError("fetch failed")),
    })
    return promise
  }
  const { setTimeout: later, setInterval: often } = globalThis
  Object.assign(globalThis, {
    // A page waits for as long as it is open, and a test not for it.
    setTimeout: (...given: Parameters<typeof later>) => later(...given).unref(),
    setInterval: (...given: Parameters<typeof often>) => often(...given).unref(),
    localStorage: {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
      removeItem: (key: string) => void stored.delete(key),
    },
    document: { hidden: false, addEventListener: () => undefined },
    location: { hash: "", pathname: "/dashboard/" },
    history: { replaceState: () => undefined },
    addEventListener: () => undefined,
    fetch,
  })
  return {
    asked,
    tell(event, data) {
      entries += 1
      const text = `id: boot:${entries}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`
      stream?.enqueue(new TextEncoder().encode(text))
    },
  }
}

/** All that needs nothing from outside has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}
