// Where programs of this machine reach the gateway.

/** The address behind a `gateway.bind`: all interfaces are no address to call, nor to name in a Host header. */
export function localHost(bind: string): string {
  const address = bind.replace(/^\[(.*)\]$/, "$1").toLowerCase()
  if (["loopback", "localhost", "lan", "0.0.0.0", ""].includes(address)) return "127.0.0.1"
  return address === "::" ? "::1" : address
}

/** As it stands in an address of the web. */
export function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host
}
