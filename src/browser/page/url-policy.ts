// Which addresses a tab may be sent to, and of which pages the content may be given out.
// Looks at the address alone; what a name resolves to is checked where requests are seen.
import { AppError } from "../../kernel/index.ts"

export interface UrlPolicy {
  /** The address in the form to open. Throws `navigation-refused`. */
  checkOpen(url: string): string
  /** Throws `navigation-refused` when the content of a page at this address may not leave the tab. */
  checkRead(url: string): void
}

/** Names and addresses under which clouds hand out credentials to whoever asks from inside. */
const metadataNames = new Set([
  "metadata.google.internal",
  "metadata.goog",
  "metadata",
  "instance-data",
  "instance-data.ec2.internal",
])
const metadataAddresses = new Set(["100.100.100.200", "192.0.0.192", "168.63.129.16"])
const metadataAddresses6 = new Set(["[fd00:ec2::254]", "[fd20:ce::254]"])

/** Schemes of pages that hold nothing of the machine. */
const readable = new Set(["http:", "https:", "about:", "blob:", "data:", "chrome-error:"])

export const openPolicy: UrlPolicy = {
  checkOpen(url) {
    const text = url.trim()
    if (text === "about:blank") return text
    if (!URL.canParse(text)) {
      throw new AppError("navigation-refused", "This is not a complete URL", {
        hint: "Give it with its scheme: https://example.com/",
      })
    }
    const parsed = new URL(text)
    if (parsed.protocol !== "http:" && parsed.protocol !== "https:") {
      throw new AppError("navigation-refused", `URLs with the scheme ${parsed.protocol} may not be opened`, {
        hint: "Only http:, https: and about:blank may",
      })
    }
    refuseMetadata(parsed)
    return parsed.href
  },
  checkRead(url) {
    if (url === "" || !URL.canParse(url)) return
    const parsed = new URL(url)
    if (!readable.has(parsed.protocol)) {
      throw new AppError(
        "navigation-refused",
        `The tab shows a page with the scheme ${parsed.protocol}, which may not be read`,
        {
          hint: "Navigate the tab to an http or https address first",
        },
      )
    }
    refuseMetadata(parsed)
  },
}

function refuseMetadata(url: URL): void {
  if (!isMetadataHost(url.hostname)) return
  throw new AppError("navigation-refused", "Addresses of cloud metadata services may not be opened")
}

/** `hostname` as WHATWG URL gives it: decimal, hex and octal forms of IPv4 are already dotted. */
export function isMetadataHost(hostname: string): boolean {
  const host = hostname.toLowerCase().replace(/\.$/, "")
  if (metadataNames.has(host) || metadataAddresses6.has(host)) return true
  const address = mappedIpv4(host) ?? host
  return metadataAddresses.has(address) || /^169\.254\.\d+\.\d+$/.test(address) || /^\[fe[89ab]/.test(host)
}

/** The IPv4 address inside an IPv6 one: mapped, compatible, or behind NAT64. */
function mappedIpv4(host: string): string | undefined {
  const match = /^\[(?:::ffff:|::ffff:0:|::|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host)
  if (!match) return undefined
  const high = Number.parseInt(match[1] as string, 16)
  const low = Number.parseInt(match[2] as string, 16)
  return [high >> 8, high & 255, low >> 8, low & 255].join(".")
}
