// The origins that a secret is bound to, as a person writes them.
import { isIP } from "node:net"
import { AppError } from "../kernel/index.ts"

/** The exact origin. Throws `bad-request` for what is none, or would send a secret in the open over other networks. */
export function parseOrigin(text: string): string {
  const written = text.trim()
  const shown = written.slice(0, 200)
  if (!URL.canParse(written)) throw wrong(`${shown} is not an origin`)
  const url = new URL(written)
  if (url.protocol !== "https:" && url.protocol !== "http:") throw wrong(`${shown} is not an origin of the web`)
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "" || url.pathname !== "/")
    throw wrong(`${shown} is more than an origin`)
  if (url.protocol === "http:" && !isNear(url.hostname)) {
    throw new AppError("bad-request", `${shown} is not encrypted: whoever is on the way could read the secret`, {
      hint: "Use its https address; plain http is taken for this machine and private addresses only",
    })
  }
  return url.origin
}

function wrong(message: string): AppError {
  return new AppError("bad-request", message, {
    hint: "Write it as in https://shop.example or https://nas.example:8443",
  })
}

/** This machine, or an address that no router passes on. */
function isNear(hostname: string): boolean {
  if (hostname === "localhost" || hostname.endsWith(".localhost")) return true
  const address = hostname.replace(/^\[|\]$/g, "")
  if (isIP(address) === 6) return address === "::1" || /^f[cd]/i.test(address)
  if (isIP(address) !== 4) return false
  const [first = 0, second = 0] = address.split(".").map(Number)
  return (
    first === 127 || first === 10 || (first === 192 && second === 168) || (first === 172 && second >= 16 && second < 32)
  )
}
