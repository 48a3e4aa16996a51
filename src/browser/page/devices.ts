// Devices by name, as the automation library knows them: size, scale, touch and how such a browser calls itself.
import { AppError } from "../../kernel/index.ts"

export interface Device {
  name: string
  userAgent: string
  width: number
  height: number
  screenWidth: number
  screenHeight: number
  scale: number
  mobile: boolean
  touch: boolean
}

/** Throws `bad-request` for a name that is not known, with those that come close. */
export async function findDevice(name: string): Promise<Device> {
  // About 0.4 s of loading, which only those pay who ask for a device.
  const { devices } = await import("playwright-core")
  const names = Object.keys(devices)
  const wanted = name.trim().toLowerCase()
  const found = names.find((each) => each.toLowerCase() === wanted)
  const preset = found === undefined ? undefined : devices[found]
  if (found === undefined || !preset) {
    const near = closest(wanted, names)
    throw new AppError("bad-request", `name: there is no device ${name.slice(0, 60)}`, {
      hint: near.length > 0 ? `These come close: ${near.join(", ")}` : "Give a name such as Pixel 7 or iPhone 13",
    })
  }
  const { viewport, userAgent, deviceScaleFactor, isMobile, hasTouch } = preset
  const screen = "screen" in preset ? (preset.screen as typeof viewport) : viewport
  return {
    name: found,
    userAgent,
    width: viewport.width,
    height: viewport.height,
    screenWidth: screen.width,
    screenHeight: screen.height,
    scale: deviceScaleFactor,
    mobile: isMobile,
    touch: hasTouch,
  }
}

const shown = 5

/** The names that share most pairs of letters. */
function closest(wanted: string, names: string[]): string[] {
  const pairs = pairsOf(wanted)
  const rate = (name: string) => {
    const own = pairsOf(name.toLowerCase())
    const shared = [...pairs].filter((pair) => own.has(pair)).length
    return (2 * shared) / (pairs.size + own.size || 1)
  }
  return names
    .map((name) => ({ name, rate: rate(name) }))
    .filter(({ rate: likeness }) => likeness >= 0.35)
    .toSorted((one, other) => other.rate - one.rate)
    .slice(0, shown)
    .map(({ name }) => name)
}

function pairsOf(text: string): Set<string> {
  return new Set(Array.from({ length: Math.max(0, text.length - 1) }, (_, index) => text.slice(index, index + 2)))
}

/** What browsers of the Chromium family say beside their user agent; others say nothing. */
export function clientHints({ userAgent, mobile }: Device): object | undefined {
  const version = /Chrome\/(\d+)([\d.]*)/.exec(userAgent)
  if (!version) return undefined
  const [, major = "", rest = ""] = version
  const product = /Edg/.test(userAgent) ? "Microsoft Edge" : "Google Chrome"
  const brands = (own: string, other: string) => [
    { brand: "Chromium", version: own },
    { brand: product, version: own },
    { brand: "Not/A)Brand", version: other },
  ]
  const android = /Android ([\d.]+)(?:; ([^;)]+))?/.exec(userAgent)
  const platform = android
    ? "Android"
    : /Windows/.test(userAgent)
      ? "Windows"
      : /Mac OS X/.test(userAgent)
        ? "macOS"
        : "Linux"
  return {
    brands: brands(major, "8"),
    fullVersionList: brands(`${major}${rest}`, "8.0.0.0"),
    platform,
    platformVersion: android?.[1] ?? "",
    architecture: mobile ? "" : "x86",
    model: mobile ? (android?.[2] ?? "") : "",
    mobile,
  }
}
