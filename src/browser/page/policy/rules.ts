// The operator's lists of hosts: `host`, `*.host`, an address or `10.0.0.0/8`, each with a port behind it if only that
// one is meant.
import { BlockList, isIP } from "node:net"

export interface Rules {
  /** Whether a name in a URL is listed, or an address that it stands for. */
  matches(host: string, port: number, addresses?: readonly string[]): boolean
  /** Whether names must be looked up to know. */
  readonly byAddress: boolean
}

interface Rule {
  /** Undefined for all. */
  port: number | undefined
  name: string | undefined
  /** Names below `name` too, and not itself. */
  wildcard: boolean
  subnet: BlockList | undefined
}

export function parseRules(texts: readonly string[]): Rules {
  const rules = texts.map(parseRule)
  return {
    byAddress: rules.some(({ subnet }) => subnet !== undefined),
    matches: (host, port, addresses = []) => {
      const name = plainHost(host)
      const known = isIP(name) === 0 ? addresses : [name]
      return rules.some(
        (rule) => (rule.port === undefined || rule.port === port) && (fits(rule, name) || holds(rule, known)),
      )
    },
  }
}

/** The host of a URL without what has no meaning for its place: case, the dot at its end, brackets. */
export function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/\.$/, "")
    .replace(/^\[|\]$/g, "")
}

/** What is wrong with an entry; undefined when nothing is. */
export function ruleProblem(text: string): string | undefined {
  try {
    parseRule(text)
    return undefined
  } catch (error) {
    if (error instanceof Error) return error.message
    throw error
  }
}

function parseRule(text: string): Rule {
  const { host, port } = splitPort(text.trim())
  const [address = "", bits] = host.split("/")
  const version = isIP(address)
  if (version !== 0) {
    const most = version === 4 ? 32 : 128
    const size = bits === undefined ? most : Number(bits)
    if (bits !== undefined && (!/^\d+$/.test(bits) || size > most))
      throw new Error(`${text} has no valid prefix length`)
    const subnet = new BlockList()
    subnet.addSubnet(address, size, version === 4 ? "ipv4" : "ipv6")
    return { port, name: undefined, wildcard: false, subnet }
  }
  const wildcard = host.startsWith("*.")
  const name = wildcard ? host.slice(2) : host
  if (name === "" || /[/*@?#\s]/.test(name) || !URL.canParse(`http://${name}/`))
    throw new Error(`${text} is not a host, *.host, address or network such as 10.0.0.0/8`)
  return { port, name: plainHost(new URL(`http://${name}/`).hostname), wildcard, subnet: undefined }
}

/** IPv6 addresses need brackets to have a port: `[::1]:8080`. */
function splitPort(text: string): { host: string; port: number | undefined } {
  const bracketed = /^\[([^\]]*)\](?::(\d+))?$/.exec(text)
  if (bracketed) return { host: bracketed[1] as string, port: toPort(bracketed[2]) }
  const plain = /^([^:]*):(\d+)$/.exec(text)
  return plain ? { host: plain[1] as string, port: toPort(plain[2]) } : { host: text, port: undefined }
}

function toPort(digits: string | undefined): number | undefined {
  if (digits === undefined) return undefined
  if (Number(digits) < 1 || Number(digits) > 65_535) throw new Error(`${digits} is not a port`)
  return Number(digits)
}

function fits({ name, wildcard }: Rule, host: string): boolean {
  if (name === undefined) return false
  return wildcard ? host.endsWith(`.${name}`) : host === name
}

function holds({ subnet }: Rule, addresses: readonly string[]): boolean {
  if (subnet === undefined) return false
  return addresses.some((address) => subnet.check(address, isIP(address) === 6 ? "ipv6" : "ipv4"))
}
