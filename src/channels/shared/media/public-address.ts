// Which addresses on the network a tool may ask: those of the public internet. Everything that could be this machine,
// its network or a cloud's inner services is refused.
import { BlockList, isIP } from "node:net"

const refused = new BlockList()
const v4Ranges = [
  ..."0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24".split(" "),
  ..."192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4".split(" "),
]
for (const range of v4Ranges) addRange(range, "ipv4")
// Of the global IPv6 space: tunnels, which lead to IPv4 addresses inside them, and addresses for documents.
for (const range of "2001::/23 2001:db8::/32 2002::/16 3fff::/20".split(" ")) addRange(range, "ipv6")

const globalV6 = new BlockList()
globalV6.addSubnet("2000::", 3, "ipv6")

export function isPublicAddress(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !refused.check(address, "ipv4")
  return version === 6 && globalV6.check(address, "ipv6") && !refused.check(address, "ipv6")
}

function addRange(range: string, family: "ipv4" | "ipv6"): void {
  const [network = "", bits = ""] = range.split("/")
  refused.addSubnet(network, Number(bits), family)
}
