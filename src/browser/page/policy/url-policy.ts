// Which addresses a tab may ask for, and of which pages the content may be given out.
// `open` refuses other schemes, the metadata services of clouds and the gateway's own ports; `strict` also everything that is
// not the public internet, whatever name it goes by. The operator's lists come on top: deny refuses in both, allow lifts
// strict, and nothing lifts what `open` refuses.
import { lookup } from "node:dns/promises"
import { isIP } from "node:net"
import { AppError, raceAbort, withTimeout } from "../../../kernel/index.ts"
import { isLoopbackName, isMetadataHost, isThisMachine, kindOf } from "./addresses.ts"
import { parseRules, plainHost } from "./rules.ts"

/** The addresses that a name stands for. Rejects when it stands for none. */
export type Resolve = (name: string) => Promise<string[]>

export interface PolicySettings {
  policy: "open" | "strict"
  allow: readonly string[]
  deny: readonly string[]
}

/** Ports of this machine behind which the gateway itself, its browsers or their tools listen. */
export type IsOwnPort = (port: number) => boolean

export interface UrlPolicy {
  /** Whether the operator restricts addresses beyond what nobody may reach. */
  readonly filters: boolean
  /** The address in the form to open. Looks at the address alone. Throws `navigation-refused`. */
  checkOpen(url: string): string
  /** Throws `navigation-refused` when the content of a page at this address may not leave the tab. */
  checkRead(url: string): void
  /**
   * Looks also at what the name stands for, and gives the addresses that may be connected to; none for what needs no
   * network. Rejects with `navigation-refused`, or `navigation-failed` for a name that stands for nothing.
   */
  checkRequest(url: string, signal?: AbortSignal): Promise<string[]>
  /** Whether a page at this URL may have come from this address: names can change their meaning between two looks. */
  allowsAddress(url: string, address: string): boolean
}

/** Schemes of pages that hold nothing of the machine. */
const readable = new Set(["http:", "https:", "about:", "blob:", "data:", "chrome-error:"])
const network = new Set(["http:", "https:", "ws:", "wss:"])
/** What browsers load for themselves; pages cannot be led there. */
const own = new Set(["chrome:", "chrome-extension:", "chrome-untrusted:", "devtools:"])

export function createUrlPolicy(
  settings: PolicySettings,
  resolve: Resolve,
  isOwnPort: IsOwnPort = () => false,
): UrlPolicy {
  const allow = parseRules(settings.allow)
  const deny = parseRules(settings.deny)
  const strict = settings.policy === "strict"

  function refuse(url: URL, addresses: readonly string[]): void {
    const { hostname } = url
    const port = portOf(url)
    const known = isIP(plainHost(hostname)) === 0 ? addresses : [plainHost(hostname)]
    if (isMetadataHost(hostname) || known.some((address) => kindOf(address) === "metadata")) {
      throw new AppError("navigation-refused", "Addresses of cloud metadata services may not be opened")
    }
    if (isOwnPort(port) && (isLoopbackName(hostname) || known.some(isThisMachine))) {
      throw new AppError(
        "navigation-refused",
        `Port ${port} of this machine is the gateway's own and may not be opened`,
        { hint: "The agent's browser never sees it; for a person, svc dashboard opens the gateway's page" },
      )
    }
    if (deny.matches(hostname, port, known)) {
      throw new AppError("navigation-refused", `${hostname} may not be opened`, {
        hint: "browser.navigation.deny lists it",
      })
    }
    if (!strict || allow.matches(hostname, port)) return
    // Each address that a name stands for has to be allowed: the browser may take any of them.
    const unknownYet = known.length === 0 && allow.byAddress
    const closed = known.some((address) => kindOf(address) !== "public" && !allow.matches(address, port))
    if (closed || (known.length === 0 && isLocalName(hostname) && !unknownYet)) {
      throw new AppError("navigation-refused", `${hostname} is an address of this machine or of a private network`, {
        hint: "Here only public addresses may be opened; the operator can add others to browser.navigation.allow",
      })
    }
  }

  return {
    filters: strict || settings.deny.length > 0,
    checkOpen(text) {
      const parsed = parseOpen(text)
      if (parsed === undefined) return "about:blank"
      refuse(parsed, [])
      return parsed.href
    },
    checkRead(url) {
      if (url === "" || !URL.canParse(url)) return
      const parsed = new URL(url)
      if (!readable.has(parsed.protocol)) throw refusedScheme(parsed, "The tab shows a page with the scheme")
      if (network.has(parsed.protocol)) refuse(parsed, [])
    },
    async checkRequest(url, signal) {
      if (!URL.canParse(url)) throw new AppError("navigation-refused", "This is not an address")
      const parsed = new URL(url)
      if (!network.has(parsed.protocol)) {
        if (readable.has(parsed.protocol) || own.has(parsed.protocol)) return []
        throw refusedScheme(parsed, "Pages may not ask for the scheme")
      }
      refuse(parsed, [])
      const host = plainHost(parsed.hostname)
      if (isIP(host) !== 0) return [host]
      // A name that was allowed as a name may stand for anything but a metadata service. Browsers ask nobody about localhost.
      const addresses = isLoopbackName(host) ? loopbackAddresses : await lookUp(host, resolve, signal)
      refuse(parsed, addresses)
      return addresses
    },
    allowsAddress(url, address) {
      if (!URL.canParse(url)) return true
      try {
        refuse(new URL(url), [address.replace(/^\[|\]$/g, "")])
        return true
      } catch (error) {
        if (error instanceof AppError) return false
        throw error
      }
    },
  }
}

function parseOpen(url: string): URL | undefined {
  const text = url.trim()
  if (text === "about:blank") return undefined
  if (!URL.canParse(text)) {
    throw new AppError("navigation-refused", "This is not a complete URL", {
      hint: "Give it with its scheme: https://example.com/",
    })
  }
  const parsed = new URL(text)
  if (parsed.protocol === "http:" || parsed.protocol === "https:") return parsed
  throw new AppError("navigation-refused", `URLs with the scheme ${parsed.protocol} may not be opened`, {
    hint: "Only http:, https: and about:blank may",
  })
}

function refusedScheme({ protocol }: URL, words: string): AppError {
  return new AppError("navigation-refused", `${words} ${protocol}, which may not be read`, {
    hint: "Navigate the tab to an http or https address first",
  })
}

/** Browsers take these for the machine itself, or ask the local network, without asking for a name's address. */
function isLocalName(hostname: string): boolean {
  return /(?:^|\.)(?:localhost|local|internal|home\.arpa)$/.test(plainHost(hostname))
}

function portOf(url: URL): number {
  if (url.port !== "") return Number(url.port)
  return url.protocol === "https:" || url.protocol === "wss:" ? 443 : 80
}

const loopbackAddresses = ["127.0.0.1", "::1"]
const lookUpMs = 5_000

async function lookUp(host: string, resolve: Resolve, parent: AbortSignal | undefined): Promise<string[]> {
  const { signal, clear } = withTimeout(lookUpMs, `Looking up ${host}`, parent)
  try {
    const addresses = await raceAbort(resolve(host), signal)
    if (addresses.length > 0) return addresses
  } catch (error) {
    if (error instanceof AppError) throw error
    throw unknownName(host, error)
  } finally {
    clear()
  }
  throw unknownName(host)
}

/** Whether a check failed because nothing is known of the name: there is no such name, or nobody said so in time. */
export function isUnknownName(error: unknown): boolean {
  return error instanceof AppError && (error.code === "navigation-failed" || error.code === "timeout")
}

function unknownName(host: string, cause?: unknown): AppError {
  return new AppError("navigation-failed", `The name ${host} stands for no address`, {
    hint: "Check the host name",
    cause,
  })
}

/** The machine's own way to look up names, its hosts file included: the way of a browser that runs here. */
export const systemResolve: Resolve = async (name) => {
  const found = await lookup(name, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}

const keptMs = 5_000
const keptNames = 500

/** Remembers what names stood for, for a page's many requests to one host. */
export function rememberNames(resolve: Resolve, now: () => number): Resolve {
  const known = new Map<string, { until: number; addresses: Promise<string[]> }>()
  return (name) => {
    const kept = known.get(name)
    if (kept && kept.until > now()) return kept.addresses
    known.delete(name)
    if (known.size >= keptNames) known.delete(known.keys().next().value as string)
    const addresses = resolve(name)
    known.set(name, { until: now() + keptMs, addresses })
    addresses.catch(() => known.delete(name))
    return addresses
  }
}
