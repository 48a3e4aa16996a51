// One POST to an address that the configuration names, with a guard against reaching inside: the name is resolved here,
// every address is judged, and the connection goes to the very address that was judged. Redirects are not followed.
import { lookup } from "node:dns/promises"
import { request as httpRequest } from "node:http"
import { request as httpsRequest } from "node:https"
import { BlockList, isIP } from "node:net"
import { AppError, withTimeout } from "../kernel/index.ts"

export interface GuardedPost {
  url: string
  headers: Record<string, string>
  body: string
  allowPrivate: boolean
  timeoutMs: number
  signal: AbortSignal
}

/** Of the answer nothing but the status is used; the rest is read up to this length so that the sender sees it taken. */
const maxAnswerBytes = 64 * 1024

/** The status of the answer. Throws `forbidden` for an address that may not be reached; network failures as they are. */
export async function guardedPost(post: GuardedPost): Promise<number> {
  const url = new URL(post.url)
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new AppError("forbidden", "Only http and https are posted to")
  if (url.username !== "" || url.password !== "")
    throw new AppError("forbidden", "An address with a password is not posted to")
  const { signal, clear } = withTimeout(post.timeoutMs, "The post", post.signal)
  try {
    const address = await judgedAddress(url.hostname, post.allowPrivate)
    signal.throwIfAborted()
    return await send(url, address, post, signal)
  } finally {
    clear()
  }
}

interface Address {
  address: string
  family: number
}

async function judgedAddress(hostname: string, allowPrivate: boolean): Promise<Address> {
  const plain = hostname.replace(/^\[|\]$/g, "")
  const family = isIP(plain)
  const addresses = family === 0 ? await lookup(plain, { all: true }) : [{ address: plain, family }]
  const [first] = addresses
  if (!first) throw new AppError("forbidden", "The name has no address")
  // One bad address among good ones is a name made to deceive.
  if (!allowPrivate && addresses.some(({ address }) => !isPublicAddress(address))) {
    throw new AppError("forbidden", "The address is loopback, private or link-local", {
      hint: "Set hooks.callbackAllowPrivate to true when results go to a service of your own network",
    })
  }
  return first
}

function send(url: URL, address: Address, post: GuardedPost, signal: AbortSignal): Promise<number> {
  const begin = url.protocol === "https:" ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    let isAnswered = false
    const request = begin(
      url,
      {
        method: "POST",
        agent: false,
        signal,
        headers: { ...post.headers, "content-length": Buffer.byteLength(post.body) },
        lookup: (_name, options, callback) => {
          if (options.all) (callback as unknown as (error: null, all: Address[]) => void)(null, [address])
          else callback(null, address.address, address.family)
        },
      },
      (response) => {
        isAnswered = true
        let received = 0
        const finish = () => {
          resolve(response.statusCode ?? 0)
          request.destroy()
        }
        response.on("data", (chunk: Buffer) => {
          received += chunk.length
          if (received > maxAnswerBytes) finish()
        })
        response.on("end", finish)
        response.on("error", finish)
      },
    )
    request.on("error", reject)
    // Without an error for an answer that is none, such as a change of protocol that nobody asked for.
    request.on("close", () => {
      if (!isAnswered) reject(new Error("The connection ended without an answer"))
    })
    request.end(post.body)
  })
}

// https://www.iana.org/assignments/iana-ipv4-special-registry and its IPv6 sister: what is not the public network.
const ranges4: [string, number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
]

export function isPublicAddress(address: string): boolean {
  const blocked = new BlockList()
  for (const [network, prefix] of ranges4) blocked.addSubnet(network, prefix, "ipv4")
  if (isIP(address) === 4) return !blocked.check(address, "ipv4")
  if (isIP(address) !== 6) return false
  // Only global unicast is public; within it, forms that carry an IPv4 address are judged by what they may hide.
  const allowed = new BlockList()
  allowed.addSubnet("2000::", 3, "ipv6")
  for (const [network, prefix] of [
    ["2001::", 23],
    ["2001:db8::", 32],
    ["2002::", 16],
    ["3fff::", 20],
  ] as const)
    blocked.addSubnet(network, prefix, "ipv6")
  return allowed.check(address, "ipv6") && !blocked.check(address, "ipv6")
}
