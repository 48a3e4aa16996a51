// Links of formatted text: which of them the platform keeps, and the form that it gives them.
import { lowerAscii } from "./reader.ts"

/** The largest user id that the platform hands out has 40 bits. */
const maxUserId = 2 ** 40 - 1

/** The user that a `tg://user?id=...` link means. */
export function userIdOfLink(link: string): number | undefined {
  const query = /^tg:(?:\/\/)?user\/?\?([^#]*)/i.exec(link)?.[1]
  if (query === undefined) return undefined
  const parameter = query.split("&").find((pair) => pair.split("=")[0] === "id")
  const value = parameter?.slice(3) ?? ""
  if (!/^\d+$/.test(value)) return undefined
  const id = Number(value)
  return id > 0 && id <= maxUserId ? id : undefined
}

/** The link in its kept form, or undefined when the platform drops it. */
export function checkedLink(link: string): string | undefined {
  const scheme = /^(tg|ton|tonsite):/i.exec(link)?.[1]?.toLowerCase()
  if (scheme === undefined) return checkedHttpLink(link)
  const rest = link.slice(scheme.length + 1)
  const bare = rest.startsWith("//") ? rest.slice(2) : rest
  return scheme === "tonsite" ? checkedSiteLink(bare) : checkedAppLink(scheme, bare)
}

function checkedHttpLink(link: string): string | undefined {
  const url = parseUrl(link)
  if (!url || (!url.host.includes(".") && !url.isIpv6)) return undefined
  return urlText(url)
}

function checkedAppLink(scheme: string, rest: string): string | undefined {
  const url = parseUrl(rest)
  if (!url || !isPlainHost(rest, url) || /[^A-Za-z0-9_-]/.test(url.host)) return undefined
  const query = url.query.startsWith("/?") ? url.query.slice(1) : url.query
  return `${scheme}://${url.host}${query}`
}

function checkedSiteLink(rest: string): string | undefined {
  const url = parseUrl(rest)
  if (!url || !isPlainHost(rest, url)) return undefined
  return `tonsite://${url.host}${url.query}`
}

function isPlainHost(link: string, url: ParsedUrl): boolean {
  return !/^http:\/\//i.test(link) && url.protocol !== "https" && !url.userinfo && url.port === 0 && !url.isIpv6
}

interface ParsedUrl {
  protocol: "http" | "https"
  userinfo: string
  host: string
  isIpv6: boolean
  /** 0 when the link names none. */
  port: number
  /** Path, query and fragment; starts with a slash. */
  query: string
}

function urlText(url: ParsedUrl): string {
  const userinfo = url.userinfo ? `${url.userinfo}@` : ""
  const port = url.port ? `:${url.port}` : ""
  return `${url.protocol}://${userinfo}${url.host}${port}${url.query}`
}

/** The platform's own idea of a URL, laxer and stricter than the web's: anything with a good host is one. */
function parseUrl(link: string): ParsedUrl | undefined {
  const prefix = /^([^:/?#@[\]]*):\/\//.exec(link)
  const protocol = prefix ? lowerAscii(prefix[1] ?? "") : "http"
  if (protocol !== "http" && protocol !== "https") return undefined
  const afterProtocol = prefix ? link.slice(prefix[0].length) : link
  const authority = /^[^/?#]*/.exec(afterProtocol)?.[0] ?? ""
  const [hostPart, port] = splitPort(authority)
  if (port === undefined) return undefined
  const at = hostPart.lastIndexOf("@")
  const userinfo = hostPart.slice(0, Math.max(at, 0))
  const host = lowerAscii(hostPart.slice(at + 1))
  const isIpv6 = host.startsWith("[") && host.endsWith("]")
  if (host === "" || host === "." || !isAllowed(userinfo, true)) return undefined
  if (isIpv6 ? !/^\[[0-9a-f:.]+\]$/.test(host) : !isAllowed(host, false)) return undefined
  return { protocol, userinfo, host, isIpv6, port, query: escapeSpaces(afterProtocol.slice(authority.length)) }
}

/** Splits off a port: 0 when there is none, undefined when it is no port number. */
function splitPort(authority: string): [string, number | undefined] {
  let position = authority.length - 1
  while (position > 0 && !":]@".includes(authority.charAt(position))) position -= 1
  if (position <= 0 || authority.charAt(position) !== ":") return [authority, 0]
  const digits = authority.slice(position + 1).replace(/^0+(?=.)/, "")
  const port = /^\d+$/.test(digits) ? Number(digits) : 0
  return [authority.slice(0, position), port >= 1 && port <= 65_535 ? port : undefined]
}

function escapeSpaces(text: string): string {
  const trimmed = text.replace(/[ \t\r\n\0\v]+$/, "")
  const path = trimmed.startsWith("/") ? trimmed : `/${trimmed}`
  return path.replace(
    /[ \t\r\n\0\v]/g,
    (space) => `%${space.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
  )
}

function isAllowed(part: string, withColon: boolean): boolean {
  const rest = withColon ? part.replaceAll(":", "") : part
  return /^(?:[A-Za-z0-9._!$,~*'();&+=-]|%[0-9A-Fa-f]{2}|[^\0-\x7f])*$/.test(rest)
}
