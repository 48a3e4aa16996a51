// Commands for what is kept of a page: console, errors, requests, bodies, cookies, storage; and pages as PDF.
import { AppError } from "../../kernel/errors.ts"
import { type CommandSpec, pageMs, plain, type Run } from "./command.ts"

/** A long trace is a large file. */
const traceMs = 90_000

interface Requested {
  timestamp: string
  method: string
  url: string
  status?: number
  ok?: boolean
  failureText?: string
}

export const debugCommands: CommandSpec[] = [
  {
    usage: "console",
    description: "Print the console messages of a page, as JSON",
    example: "svc browser console --level error",
    json: "ConsoleReply",
    tab: true,
    flags: [["--level <level>", "this level and above", ["error", "warning", "warn", "info", "log", "debug"]]],
    perform: async ({ send, io, options }) => {
      const query = { targetId: options.targetId, level: options["level"] as string | undefined }
      const reply = await send<{ messages: unknown[] }>("GET", "/console", { query })
      return { reply, show: () => io.print(JSON.stringify(reply.messages, null, 2)) }
    },
  },
  {
    usage: "errors",
    description: "Print the errors that a page's scripts have raised",
    example: "svc browser errors --clear",
    json: "ErrorsReply",
    tab: true,
    flags: [["--clear", "forget them afterwards"]],
    perform: async ({ send, io, options }) => {
      const query = { targetId: options.targetId, clear: options["clear"] as boolean | undefined }
      const reply = await send<{ errors: { timestamp: string; name?: string; message: string }[] }>("GET", "/errors", {
        query,
      })
      const lines = reply.errors.map(({ timestamp, message }) => `${timestamp} ${plain(message)}`)
      return { reply, show: () => io.print(lines.join("\n") || "no errors") }
    },
  },
  {
    usage: "requests",
    description: "Print the requests of a page",
    example: "svc browser requests --filter /api/",
    json: "RequestsReply",
    tab: true,
    flags: [
      ["--filter <text>", "only those whose address holds this"],
      ["--clear", "forget them afterwards"],
    ],
    perform: async ({ send, io, options }) => {
      const { filter, clear } = options as Record<string, string | undefined>
      const reply = await send<{ requests: Requested[] }>("GET", "/requests", {
        query: { targetId: options.targetId, filter, clear },
      })
      return { reply, show: () => io.print(reply.requests.map(requestLine).join("\n") || "no requests") }
    },
  },
  {
    usage: "responsebody <url-glob>",
    description: "Wait for the next response whose address matches, and print its body",
    example: 'svc browser responsebody "*/api/orders*"',
    json: "BodyReply",
    tab: true,
    flags: [
      ["--max-chars <n>", "cut the body at this length (default 200000)"],
      ["--timeout-ms <n>", "time limit (default 20000)"],
    ],
    perform: async ({ send, io, options }, url) => {
      const { maxChars, timeoutMs } = options
      const reply = await send<{ response: { body: string } }>("POST", "/response/body", {
        body: { url, maxChars, timeoutMs, targetId: options.targetId },
        timeoutMs: Number(timeoutMs ?? 20_000) + 10_000,
      })
      return { reply, show: () => io.print(reply.response.body) }
    },
  },
  {
    usage: "pdf",
    description: "Save a page as PDF and print where",
    example: "svc browser pdf",
    json: "PdfReply",
    tab: true,
    perform: async ({ send, io, options }) => {
      const reply = await send<{ path: string }>("POST", "/pdf", {
        body: { targetId: options.targetId },
        timeoutMs: pageMs,
      })
      return { reply, show: () => io.print(`PDF:${reply.path}`) }
    },
  },
  {
    usage: "highlight <ref>",
    description: "Draw a frame around an element, until the next one or the page's end",
    example: "svc browser highlight e12",
    json: "Done",
    tab: true,
    perform: async ({ send, io, options }, ref) => {
      const reply = await send("POST", "/highlight", { body: { ref, targetId: options.targetId }, timeoutMs: pageMs })
      return { reply, show: () => io.print(`highlighted ref ${ref}`) }
    },
  },
]

function requestLine({ timestamp, method, url, status, ok, failureText }: Requested): string {
  const outcome = ok === undefined ? "open" : ok ? "ok" : "fail"
  return `${timestamp} ${method} ${status ?? "-"} ${outcome} ${plain(url)}${failureText === undefined ? "" : ` (${failureText})`}`
}

export const traceCommands: CommandSpec[] = [
  {
    usage: "start",
    description: "Begin to trace the browser: a film, snapshots after each action, network and console",
    example: "svc browser trace start",
    json: "Done",
    tab: true,
    flags: [
      ["--no-screenshots", "without the film"],
      ["--no-snapshots", "without the page as it was after each action"],
      ["--sources", "with the sources of the program"],
    ],
    perform: async ({ send, io, options }) => {
      const { targetId, screenshots, snapshots, sources } = options
      const reply = await send("POST", "/trace/start", {
        body: { targetId, screenshots, snapshots, sources },
        timeoutMs: pageMs,
      })
      return { reply, show: () => io.print("trace started") }
    },
  },
  {
    usage: "stop",
    description: "End the trace, save it below the traces folder and print where",
    example: "svc browser trace stop --out checkout.zip",
    json: "TraceReply",
    tab: true,
    flags: [["--out <path>", "name, or path below the traces folder"]],
    perform: async ({ send, io, options }) => {
      const reply = await send<{ path: string }>("POST", "/trace/stop", {
        body: { targetId: options.targetId, path: options["out"] },
        timeoutMs: traceMs,
      })
      return { reply, show: () => io.print(`TRACE:${reply.path}`) }
    },
  },
]

export const cookieCommands: CommandSpec[] = [
  {
    usage: "list",
    description: "Print all cookies of the profile, as JSON",
    example: "svc browser cookies",
    json: "CookiesReply",
    tab: true,
    perform: async ({ send, io, options }) => {
      const reply = await send<{ cookies: unknown[] }>("GET", "/cookies", { query: { targetId: options.targetId } })
      return { reply, show: () => io.print(JSON.stringify(reply.cookies, null, 2)) }
    },
  },
  {
    usage: "set <name> <value>",
    description: "Set a cookie for the site of a URL",
    example: "svc browser cookies set theme dark --url https://example.com",
    json: "Done",
    tab: true,
    flags: [["--url <url>", "the site that the cookie is for"]],
    perform: async ({ send, io, options }, name, value) => {
      const { url } = options
      if (url === undefined) throw new AppError("bad-request", "Give the site with --url")
      const body = { cookie: { name, value, url }, targetId: options.targetId }
      return { reply: await send("POST", "/cookies/set", { body }), show: () => io.print(`cookie set: ${name}`) }
    },
  },
  {
    usage: "clear",
    description: "Remove all cookies of the profile",
    example: "svc browser cookies clear",
    json: "Done",
    tab: true,
    perform: async ({ send, io, options }) => {
      const reply = await send("POST", "/cookies/clear", { body: { targetId: options.targetId } })
      return { reply, show: () => io.print("cookies cleared") }
    },
  },
]

export function storageCommands(kind: "local" | "session"): CommandSpec[] {
  const example = `svc browser storage ${kind}`
  const post = async ({ send, io, options }: Run, path: string, body: object, words: string) => {
    const reply = await send("POST", `/storage/${kind}/${path}`, { body: { ...body, targetId: options.targetId } })
    return { reply, show: () => io.print(words) }
  }
  return [
    {
      usage: "get [key]",
      description: `Print what the page keeps in its ${kind} storage, as JSON`,
      example: `${example} get`,
      json: "StorageReply",
      tab: true,
      perform: async ({ send, io, options }, key) => {
        const query = { targetId: options.targetId, key: key === "" ? undefined : key }
        const reply = await send<{ values: object }>("GET", `/storage/${kind}`, { query })
        return { reply, show: () => io.print(JSON.stringify(reply.values, null, 2)) }
      },
    },
    {
      usage: "set <key> <value>",
      description: `Set a key of the ${kind} storage`,
      example: `${example} set theme dark`,
      json: "Done",
      tab: true,
      perform: async (run, key, value) => post(run, "set", { key, value }, `set ${key}`),
    },
    {
      usage: "clear",
      description: `Empty the ${kind} storage`,
      example: `${example} clear`,
      json: "Done",
      tab: true,
      perform: async (run) => post(run, "clear", {}, `${kind} storage cleared`),
    },
  ]
}
