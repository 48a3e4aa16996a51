// What the person has set: on the disk of this browser, readable by the extension alone.
import { chrome } from "./chrome.ts"
import { defaultRelayPort, parsePairingCode } from "../../src/browser/relay/contract.ts"

export interface Settings {
  port: number
  /** Empty until the extension is paired. */
  secret: string
  /** Names this browser to the gateway; says nothing else. */
  instance: string
  /** A tab that nothing was done in for so long is let go; 0 keeps it. */
  idleMinutes: number
  /** Whether tabs that an attached page opens are attached too. */
  popups: boolean
  /** Whether the agent may open tabs of its own, while one is attached. */
  newTabs: boolean
}

const defaults: Settings = {
  port: defaultRelayPort,
  secret: "",
  instance: "",
  idleMinutes: 60,
  popups: false,
  newTabs: true,
}

export async function readSettings(): Promise<Settings> {
  const { settings } = await chrome.storage.local.get("settings")
  const read = { ...defaults, ...(settings as Partial<Settings> | undefined) }
  if (read.instance !== "") return read
  const named = { ...read, instance: crypto.randomUUID() }
  await chrome.storage.local.set({ settings: named })
  return named
}

/** Changes to settings by the options page; what is no valid value throws words for the person. */
export async function changeSettings(change: Readonly<Record<string, unknown>>): Promise<Settings> {
  const settings = { ...(await readSettings()), ...parseChange(change) }
  await chrome.storage.local.set({ settings })
  return settings
}

function parseChange(change: Readonly<Record<string, unknown>>): Partial<Settings> {
  const { code, port, idleMinutes, popups, newTabs } = change
  const parsed: Partial<Settings> = {}
  if (code !== undefined) {
    const pairing = parsePairingCode(String(code))
    if (!pairing) throw new Error("This is not a pairing code. svc browser extension pair prints one.")
    Object.assign(parsed, pairing)
  }
  if (port !== undefined) parsed.port = whole(port, 1, 65_535, "The port")
  if (idleMinutes !== undefined) parsed.idleMinutes = whole(idleMinutes, 0, 1440, "The minutes")
  if (popups !== undefined) parsed.popups = popups === true
  if (newTabs !== undefined) parsed.newTabs = newTabs === true
  return parsed
}

function whole(value: unknown, least: number, most: number, what: string): number {
  const number = Number(value)
  if (String(value).trim() !== "" && Number.isInteger(number) && number >= least && number <= most) return number
  throw new Error(`${what} must be a whole number from ${least} to ${most}.`)
}
