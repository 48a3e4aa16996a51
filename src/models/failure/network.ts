// A connection that could not be made or broke -> what happened, and what to look at. Node, undici and TLS each have
// codes of their own for it, and hide them in causes.

export type NetworkTrouble = "refused" | "unknown-host" | "cut" | "slow" | "certificate" | "protocol" | "other"

export interface NetworkCause {
  trouble: NetworkTrouble
  code: string | undefined
  /** Host, or address and port, where the error names it. */
  place: string | undefined
}

const troubleOfCode: Readonly<Record<string, NetworkTrouble>> = {
  ECONNREFUSED: "refused",
  ENOTFOUND: "unknown-host",
  EAI_AGAIN: "unknown-host",
  EAI_FAIL: "unknown-host",
  EAI_NODATA: "unknown-host",
  EAI_NONAME: "unknown-host",
  ECONNRESET: "cut",
  ECONNABORTED: "cut",
  EPIPE: "cut",
  UND_ERR_SOCKET: "cut",
  UND_ERR_CLOSED: "cut",
  UND_ERR_DESTROYED: "cut",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "cut",
  ERR_STREAM_PREMATURE_CLOSE: "cut",
  ERR_HTTP2_STREAM_ERROR: "cut",
  ERR_HTTP2_SESSION_ERROR: "cut",
  STREAM_CUT: "cut",
  ETIMEDOUT: "slow",
  ESOCKETTIMEDOUT: "slow",
  UND_ERR_CONNECT_TIMEOUT: "slow",
  EPROTO: "protocol",
  EHOSTUNREACH: "other",
  EHOSTDOWN: "other",
  ENETUNREACH: "other",
  ENETDOWN: "other",
  ENETRESET: "other",
  EADDRNOTAVAIL: "other",
  ConnectionRefused: "refused",
  ConnectionClosed: "cut",
  FailedToOpenSocket: "other",
}

const certificateCode =
  /^(?:CERT_[A-Z_]+|UNABLE_TO_[A-Z_]+|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_[A-Z_]+|ERR_TLS_CERT_[A-Z_]+|HOSTNAME_MISMATCH)$/
const protocolCode = /^(?:ERR_SSL_[A-Z0-9_]+|HPE_[A-Z_]+)$/
const plainMessage = /^(?:fetch failed|terminated|network error|socket hang up|other side closed|premature close)$/i

/** The errors that led to this one, the outermost first; of several tried addresses, the first. */
export function causesOf(error: unknown): Error[] {
  const chain: Error[] = []
  let current: unknown = error
  while (current instanceof Error && chain.length < 8) {
    chain.push(current)
    current = current.cause ?? (current instanceof AggregateError ? current.errors[0] : undefined)
  }
  return chain
}

export function readNetwork(chain: readonly Error[]): NetworkCause | undefined {
  for (const error of chain) {
    const code = textField(error, "code")
    const trouble = code === undefined ? undefined : troubleOf(code)
    if (trouble !== undefined) return { trouble, code, place: placeOf(chain) }
  }
  return chain.some((error) => plainMessage.test(error.message))
    ? { trouble: "other", code: undefined, place: placeOf(chain) }
    : undefined
}

function troubleOf(code: string): NetworkTrouble | undefined {
  if (Object.hasOwn(troubleOfCode, code)) return troubleOfCode[code]
  if (certificateCode.test(code)) return "certificate"
  if (protocolCode.test(code)) return "protocol"
  return code.startsWith("UND_ERR_") && !code.startsWith("UND_ERR_INVALID") ? "other" : undefined
}

function placeOf(chain: readonly Error[]): string | undefined {
  for (const error of chain) {
    const host = textField(error, "hostname") ?? textField(error, "address") ?? textField(error, "host")
    if (host === undefined) continue
    const port = (error as { port?: unknown }).port
    const written = host.includes(":") ? `[${host}]` : host
    return typeof port === "number" ? `${written}:${port}` : written
  }
  return undefined
}

function textField(error: Error, name: string): string | undefined {
  const value: unknown = (error as unknown as Record<string, unknown>)[name]
  return typeof value === "string" && value !== "" ? value : undefined
}
