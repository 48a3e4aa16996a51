// The address of a browser's CDP (`cdpUrl`), taken apart once: where to ask, where to connect, with which credentials.
// Credentials leave it only as headers and query parameters of requests to that very host; `shown` has none of them.
import { trimEnd } from "../../kernel/index.ts"

export interface CdpAddress {
  /** For status, errors and logs: no userinfo, no values of the query, no long random parts of the path. */
  shown: string
  port: number
  /** True when the browser runs on this machine. */
  isLoopback: boolean
  headers: Record<string, string>
  /** Everything in the URL that nobody may read. */
  secrets: string[]
  /** A WebSocket address that names its browser: connected to without asking anything before. */
  direct: string | undefined
  /** A WebSocket address that names none: `/json/version` may know one; where it does not, this is the browser. */
  socket: string | undefined
  /** `/json/version` or `/json/list`, below the URL's own path and with its query. */
  endpoint(name: "version" | "list"): URL
  /** Where to connect for a WebSocket address that the browser advertises: addresses to try, the likeliest first. */
  reach(advertised: string): string[]
}

const defaultPorts: Record<string, number> = { "http:": 80, "ws:": 80, "https:": 443, "wss:": 443 }

/** Throws TypeError for what is no URL; the schema of the configuration has refused that and other schemes before. */
export function parseCdpAddress(text: string): CdpAddress {
  const url = new URL(text)
  const user = decode(url.username)
  const password = decode(url.password)
  url.username = ""
  url.password = ""
  url.hash = ""
  const isSecure = url.protocol === "https:" || url.protocol === "wss:"
  const isSocket = url.protocol === "ws:" || url.protocol === "wss:"
  const withScheme = (kind: "http" | "ws") => new URL(url.href.replace(/^\w+:/, isSecure ? `${kind}s:` : `${kind}:`))
  const base = trimEnd(url.pathname, "/")
  const socket = isSocket ? url.href : undefined
  const isDirect = isSocket && /\/devtools\/browser\/[^/]+$/.test(base)
  const basic = Buffer.from(`${user}:${password}`).toString("base64")
  const hasCredentials = user !== "" || password !== ""
  return {
    shown: show(url),
    port: url.port === "" ? (defaultPorts[url.protocol] ?? 0) : Number(url.port),
    isLoopback: isLoopbackHost(url.hostname),
    headers: hasCredentials ? { authorization: `Basic ${basic}` } : {},
    secrets: [...secretsOf(new URL(text), password === "" ? user : password), ...(hasCredentials ? [basic] : [])],
    direct: isDirect ? socket : undefined,
    socket: isDirect ? undefined : socket,
    endpoint(name) {
      const endpoint = withScheme("http")
      endpoint.pathname = `${base}/json/${name}`
      return endpoint
    },
    reach: (advertised) => reach(withScheme("ws"), base, advertised),
  }
}

/**
 * The browser names itself by what it knows of the way to it, which behind a proxy or tunnel is wrong: often 127.0.0.1
 * or 0.0.0.0. Host, port and scheme are always those of the `cdpUrl`, so credentials go where they were meant to go.
 */
function reach(base: URL, basePath: string, advertised: string): string[] {
  const named = new URL(advertised)
  const at = (path: string) => {
    const url = new URL(base)
    url.pathname = path
    // Parameters of the browser's own come first; ours (a token) are added where it has none of that name.
    url.search = named.search
    for (const [name, value] of base.searchParams) {
      if (!named.searchParams.has(name)) url.searchParams.append(name, value)
    }
    return url.href
  }
  if (basePath === "" || named.pathname.startsWith(`${basePath}/`)) return [at(named.pathname)]
  // A proxy that takes its path off before it asks the browser; one that knows its own host has put it on already.
  const paths = [`${basePath}${named.pathname}`, named.pathname]
  return (named.hostname === base.hostname ? paths.reverse() : paths).map(at)
}

/** `localhost` and the loopback addresses. 0.0.0.0 and :: are none: bound, they are every address of the machine. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, "").toLowerCase()
  return (
    name === "localhost" ||
    name.endsWith(".localhost") ||
    name === "::1" ||
    /^127(\.\d{1,3}){3}$/.test(name) ||
    /^::ffff:(127\.|7f)/.test(name)
  )
}

function show(url: URL): string {
  const path = url.pathname
    .split("/")
    // Ids of sessions and keys in the path open the browser as much as a token does.
    .map((part) => (looksRandom(part) ? "***" : part))
    .join("/")
    .replace(/\/$/, "")
  const query = [...new Set(url.searchParams.keys())].map((name) => `${name}=***`).join("&")
  return `${url.protocol}//${url.host}${path}${query === "" ? "" : `?${query}`}`
}

/** As they are and as they are written in a URL. */
function secretsOf(url: URL, credential: string): string[] {
  const written = url.password === "" ? url.username : url.password
  const query = url.search
    .slice(1)
    .split("&")
    .map((pair) => ({ name: pair.split("=")[0] as string, value: pair.split("=").slice(1).join("=") }))
    .filter(({ name, value }) => /token|key|secret|pass|auth|sig|cred/i.test(name) || looksRandom(value))
    .flatMap(({ value }) => [value, decode(value)])
  const found = [credential, written, ...query, ...url.pathname.split("/").filter(looksRandom)]
  return [...new Set(found)].filter((secret) => secret !== "")
}

/** Long and with digits: an id or a key, not a word. */
function looksRandom(text: string): boolean {
  return text.length > 12 && /\d/.test(text)
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    // A lone % that somebody meant as it stands.
    return text
  }
}
