// What a tab pretends to be: kept until changed, the same for every process that has frames of the tab, and told again to
// frames that come later.
import { AppError } from "../../kernel/index.ts"
import { CdpError, type CdpSession } from "../cdp/index.ts"
import { clientHints, type Device } from "./devices.ts"

export interface Geolocation {
  latitude: number
  longitude: number
  accuracy: number
  /** The site that may ask for it without a question; undefined until the tab shows one. */
  origin: string | undefined
}

export interface OverrideState {
  device?: Device
  viewport?: { width: number; height: number }
  offline?: boolean
  headers?: Record<string, string>
  geolocation?: Geolocation
  colorScheme?: "dark" | "light" | "no-preference"
  timezoneId?: string
  locale?: string
}

type Name = keyof OverrideState

const frameMs = 1_000
const inEffect = /already in effect/i

export class Overrides {
  readonly #sessions = new Set<CdpSession>()
  #state: OverrideState = {}

  get state(): OverrideState {
    return this.#state
  }

  /** Starts with those of the tab that opened this one. */
  inherit(opener: Overrides): void {
    this.#state = opener.#state
  }

  /** Brings a new process of the tab to the present state. */
  async join(session: CdpSession, signal: AbortSignal): Promise<void> {
    const isMain = this.#sessions.size === 0
    this.#sessions.add(session)
    const commands = commandsFor(this.#state, Object.keys(this.#state) as Name[], isMain)
    await Promise.all(
      commands.map(async ([method, parameters]) => {
        try {
          await session.send(method, parameters, { signal })
        } catch (error) {
          // Time zone and language belong to the process: a frame or popup in one that we told already has them.
          if (!(error instanceof CdpError) || !inEffect.test(error.message)) throw error
        }
      }),
    )
  }

  /** A process of the tab that has ended. */
  leave(session: CdpSession): void {
    this.#sessions.delete(session)
  }

  /** Sets what is given; `undefined` takes an override away. Throws `bad-request` for what the browser does not take. */
  async set(changes: { [Key in Name]?: OverrideState[Key] | undefined }, signal: AbortSignal): Promise<void> {
    const names = Object.keys(changes) as Name[]
    const next = Object.fromEntries(
      Object.entries({ ...this.#state, ...changes }).filter(([, value]) => value !== undefined),
    )
    const commands = commandsFor(next as OverrideState, names, true)
    try {
      const [first] = this.#sessions
      for (const [method, parameters] of first ? commands : []) await first?.send(method, parameters, { signal })
      // From here on frames that come begin with it; those that came meanwhile are among the others.
      this.#state = next as OverrideState
      const forOthers = commandsFor(next as OverrideState, names, false)
      const others = [...this.#sessions].filter((session) => session !== first)
      await Promise.all(others.map((session) => tell(session, forOthers, signal)))
    } catch (error) {
      if (!(error instanceof CdpError)) throw error
      if (inEffect.test(error.message)) {
        throw new AppError(
          "conflict",
          `Another tab in the same process of the browser has its own ${names.join(", ")}`,
          {
            cause: error,
            hint: "Change it in the tab that opened this one, or close that tab",
          },
        )
      }
      throw new AppError("bad-request", `The browser does not take this ${names.join(", ")}`, { cause: error })
    }
  }
}

/**
 * Frames of other processes may be on their way out, and do not know every command. One that hangs holds up nobody: it is
 * told, and does it when it comes to itself.
 */
async function tell(session: CdpSession, commands: Command[], signal: AbortSignal): Promise<void> {
  await Promise.all(
    commands.map(async ([method, parameters]) => {
      try {
        await session.send(method, parameters, { signal, timeoutMs: frameMs })
      } catch (error) {
        if (!(error instanceof CdpError) && !(error instanceof AppError)) throw error
        if (signal.aborted) throw error
      }
    }),
  )
}

type Command = [method: string, parameters: Record<string, unknown>]

/** The view is the tab's: frames of other processes have their size from the page. */
function commandsFor(state: OverrideState, names: Name[], isMain: boolean): Command[] {
  const hasView = isMain && (names.includes("viewport") || names.includes("device"))
  return [...(hasView ? [viewCommand(state)] : []), ...names.flatMap((name) => commandFor(state, name))]
}

function viewCommand({ device, viewport }: OverrideState): Command {
  if (!device && !viewport) return ["Emulation.clearDeviceMetricsOverride", {}]
  const size = viewport ?? { width: device?.width, height: device?.height }
  const screen = device && !viewport ? { screenWidth: device.screenWidth, screenHeight: device.screenHeight } : {}
  const look = { deviceScaleFactor: device?.scale ?? 0, mobile: device?.mobile ?? false }
  return ["Emulation.setDeviceMetricsOverride", { ...size, ...screen, ...look }]
}

/** What the browser says it is, and which languages it asks for: one command sets both. */
function agentCommand({ device, locale }: OverrideState): Command {
  const hints = device ? clientHints(device) : undefined
  // `de-AT` asks for German in any form next.
  const [language] = locale?.split("-") ?? []
  const languages = locale === undefined ? "" : [...new Set([locale, language])].join(",")
  return [
    "Emulation.setUserAgentOverride",
    {
      userAgent: device?.userAgent ?? "",
      ...(hints ? { userAgentMetadata: hints } : {}),
      ...(languages === "" ? {} : { acceptLanguage: languages }),
    },
  ]
}

function commandFor(state: OverrideState, name: Name): Command[] {
  switch (name) {
    case "viewport":
      return []
    case "device": {
      const { device } = state
      const touch = { enabled: device?.touch === true, ...(device?.touch ? { maxTouchPoints: 5 } : {}) }
      return [agentCommand(state), ["Emulation.setTouchEmulationEnabled", touch]]
    }
    case "offline": {
      const unlimited = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 }
      return [["Network.emulateNetworkConditions", { offline: state.offline === true, ...unlimited }]]
    }
    case "headers":
      return [["Network.setExtraHTTPHeaders", { headers: state.headers ?? {} }]]
    case "geolocation": {
      if (!state.geolocation) return [["Emulation.clearGeolocationOverride", {}]]
      const { latitude, longitude, accuracy } = state.geolocation
      return [["Emulation.setGeolocationOverride", { latitude, longitude, accuracy }]]
    }
    case "colorScheme":
      return [
        [
          "Emulation.setEmulatedMedia",
          { features: [{ name: "prefers-color-scheme", value: state.colorScheme ?? "" }] },
        ],
      ]
    case "timezoneId":
      return [["Emulation.setTimezoneOverride", { timezoneId: state.timezoneId ?? "" }]]
    case "locale":
      // A locale that is set cannot be set again to another; taken away first, it can.
      return [
        agentCommand(state),
        ["Emulation.setLocaleOverride", {}],
        ...(state.locale === undefined ? [] : [["Emulation.setLocaleOverride", { locale: state.locale }] as Command]),
      ]
  }
}
