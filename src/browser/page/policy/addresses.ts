// What kind of place an IP address is: the public internet, a network of our own, or a service that hands out
// credentials. Addresses inside other addresses (mapped, translated, tunnelled) count as what is inside.
import { BlockList, isIP, isIPv4 } from "node:net"
import { networkInterfaces } from "node:os"

export type AddressKind = "public" | "private" | "metadata"

/** Names and addresses under which clouds hand out credentials to whoever asks from inside. */
const metadataNames = new Set([
  "metadata.google.internal",
  "metadata.goog",
  "metadata",
  "instance-data",
  "instance-data.ec2.internal",
])

const metadata = listOf([
  "169.254.0.0/16",
  "100.100.100.200/32",
  "192.0.0.192/32",
  "168.63.129.16/32",
  "fd00:ec2::254/128",
  "fd20:ce::254/128",
  "fe80::/10",
])

/** The same for a browser's own list of hosts, as far as it can say them; it compares with addresses in their plain form. */
export const metadataPatterns = [
  ...metadataNames,
  "169.254.*",
  "100.100.100.200",
  "192.0.0.192",
  "168.63.129.16",
  "[fd00:ec2::254]",
  "[fd20:ce::254]",
  ...["8", "9", "a", "b"].map((digit) => `[fe${digit}*`),
  "[::ffff:a9fe:*",
]

/** Bound or connected to, these are this machine: loopback, and "any address", which connects to loopback too. */
const loopback = listOf(["127.0.0.0/8", "0.0.0.0/8", "::1/128", "::/128"])

/** Everything that the registries of special-purpose addresses do not call global, and what is only for groups. */
const special = listOf([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "100::/64",
  "2001:2::/48",
  "2001:10::/28",
  "2001:20::/28",
  "2001:db8::/32",
  "3fff::/20",
])

/** Where IPv6 is global at all; the rest (loopback, unique local, site local, multicast, unassigned) is not. */
const global6 = listOf(["2000::/3"])

/** `address` without brackets. What is no address at all counts as private: nothing is known of it. */
export function kindOf(address: string): AddressKind {
  const plain = address.replace(/^\[|\]$/g, "").split("%", 1)[0] ?? ""
  const inner = isIP(plain) === 6 ? embedded(plain) : undefined
  if (inner !== undefined) return kindOf(inner)
  const family = familyOf(plain)
  if (family === undefined) return "private"
  if (metadata.check(plain, family)) return "metadata"
  if (special.check(plain, family)) return "private"
  return family === "ipv4" || global6.check(plain, "ipv6") ? "public" : "private"
}

/** `hostname` as WHATWG URL gives it: decimal, hex and octal forms of IPv4 are already dotted. */
export function isMetadataHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, "")
  if (metadataNames.has(host)) return true
  const address = host.replace(/^\[|\]$/g, "")
  return isIP(address) !== 0 && kindOf(address) === "metadata"
}

/** Whether a connection to the address ends on this machine: loopback in any form, and what its networks know it by. */
export function isThisMachine(address: string): boolean {
  const plain = address.replace(/^\[|\]$/g, "").split("%", 1)[0] ?? ""
  const inner = isIP(plain) === 6 ? embedded(plain) : undefined
  if (inner !== undefined) return isThisMachine(inner)
  const family = familyOf(plain)
  if (family === undefined) return false
  if (loopback.check(plain, family)) return true
  const known = new BlockList()
  for (const own of Object.values(networkInterfaces()).flatMap((list) => list ?? []))
    known.addAddress(own.address, own.family === "IPv6" ? "ipv6" : "ipv4")
  return known.check(plain, family)
}

/** Names that browsers take for loopback without asking anybody. */
export function isLoopbackName(hostname: string): boolean {
  return /(?:^|\.)localhost$/.test(hostname.toLowerCase().replace(/\.$/, ""))
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  const version = isIP(address)
  return version === 0 ? undefined : version === 4 ? "ipv4" : "ipv6"
}

function listOf(subnets: string[]): BlockList {
  const list = new BlockList()
  for (const subnet of subnets) {
    const [address = "", bits = ""] = subnet.split("/")
    list.addSubnet(address, Number(bits), isIPv4(address) ? "ipv4" : "ipv6")
  }
  return list
}

/** The IPv4 address inside an IPv6 one: mapped, compatible, translated, behind NAT64, 6to4, ISATAP or Teredo. */
function embedded(address: string): string | undefined {
  const groups = groupsOf(address)
  const at = (index: number) => groups[index] ?? 0
  const tail = () => dotted(at(6), at(7))
  const zeros = (count: number) => groups.slice(0, count).every((group) => group === 0)
  if (zeros(5) && at(5) === 0xffff) return tail()
  if (zeros(4) && at(4) === 0xffff && at(5) === 0) return tail()
  if (zeros(6) && (at(6) !== 0 || at(7) > 1)) return tail()
  if (at(0) === 0x64 && at(1) === 0xff9b) return tail()
  if (at(0) === 0x2002) return dotted(at(1), at(2))
  if (at(0) === 0x2001 && at(1) === 0) return dotted(at(6) ^ 0xffff, at(7) ^ 0xffff)
  if (at(5) === 0x5efe && (at(4) & 0xfdff) === 0) return tail()
  return undefined
}

function groupsOf(address: string): number[] {
  // URL writes every IPv6 address in one form: hex groups with at most one gap.
  const [head = "", rest] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split("::")
  const left = head === "" ? [] : head.split(":")
  const right = rest === undefined || rest === "" ? [] : rest.split(":")
  const gap = rest === undefined ? 0 : 8 - left.length - right.length
  return [...left, ...Array.from({ length: gap }, () => "0"), ...right].map((group) => Number.parseInt(group, 16))
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".")
}
