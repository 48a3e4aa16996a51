// Where the gateway is, as a person writes it: `wss://home.example`, `ws://127.0.0.1:18789`, `https://home.example/svc`.
import { AppError } from "../../kernel/errors.ts"
import { nodePath } from "../protocol.ts"

const forms: Readonly<Record<string, string>> = { "http:": "ws:", "https:": "wss:", "ws:": "ws:", "wss:": "wss:" }

/** Throws `bad-request`. Without TLS only to this machine, unless `allowPlain`: what is said would be open on the way. */
export function gatewayAddress(text: string, allowPlain: boolean): string {
  const written = /^[a-z]+:\/\//i.test(text) ? text : `ws://${text}`
  const url = URL.canParse(written) ? new URL(written) : undefined
  const protocol = url && forms[url.protocol]
  if (!url || protocol === undefined) {
    throw new AppError("bad-request", `${JSON.stringify(text.slice(0, 200))} is no address of a gateway`, {
      hint: "For example: svc node run --gateway wss://gateway.example, or ws://127.0.0.1:18789",
    })
  }
  if (url.username !== "" || url.password !== "" || url.search !== "") {
    throw new AppError("bad-request", "The address of a gateway holds no secret and no query", {
      hint: "A node proves itself by its own key",
    })
  }
  if (protocol === "ws:" && !isLoopback(url.hostname) && !allowPlain) {
    throw new AppError("bad-request", `Without TLS a node connects to its own machine only, not to ${url.hostname}`, {
      hint: "Use wss://, or a tunnel (ssh -L 18789:127.0.0.1:18789 gateway-host); --allow-plain takes the risk",
    })
  }
  const port = url.port === "" ? "" : `:${url.port}`
  // What a proxy has in front of it; the path of the door itself may be written or not.
  const parts = url.pathname.split("/").filter((part) => part !== "")
  if (parts.at(-1) === nodePath.slice(1)) parts.pop()
  return `${protocol}//${url.hostname}${port}${parts.map((part) => `/${part}`).join("")}${nodePath}`
}

/** Of an address from above: the port, where it is one of this machine, as a tunnel to the gateway is. */
export function localPort(address: string): number | undefined {
  const { protocol, hostname, port } = new URL(address)
  if (!isLoopback(hostname)) return undefined
  return port === "" ? (protocol === "wss:" ? 443 : 80) : Number(port)
}

function isLoopback(name: string): boolean {
  return name === "localhost" || name === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(name)
}
