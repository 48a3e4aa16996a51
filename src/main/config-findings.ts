// What a configuration that can be used has against it: one list, told by `svc config validate`, at the start and after a
// change. Nothing here keeps a gateway from starting, and nothing outside the machine is asked.
import { existsSync, readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"
import type { Config, ConfigPath, ConfigSnapshot, Environment } from "../config/index.ts"
import { formatConfigPath, nearestName, resolveHome } from "../config/index.ts"
import { configSchema } from "../config/schema.ts"
import { openSchema, schemasAt } from "../config/schema-walk.ts"
import { type Json, type Log, isJsonObject } from "../kernel/index.ts"
import { stripPrefixes } from "../channels/access.ts"
import { customEntries } from "../channels/chatapp/commands/menu.ts"
import { idPrefixes } from "../channels/chatapp/settings.ts"
import { webChannel } from "../channels/web/contract.ts"
import { hookPresets } from "../hooks/config.ts"
import { isRequestPath } from "../hooks/path.ts"
import { thinkingLevels } from "../hooks/payload.ts"
import { isHookKey } from "../sessions/keys.ts"
import { type ModelWarning, findModelWarnings } from "./models/warnings.ts"
import { findSecretWarnings } from "./secret-warnings.ts"

export interface ConfigFinding extends ModelWarning {
  /** What the log calls it. */
  title: string
}

export function findConfigWarnings(snapshot: ConfigSnapshot): ConfigFinding[] {
  const { config, environment, source } = snapshot
  const written = findInSource(source, [], environment.variables)
  const isTold = new Set(written.map(({ path }) => formatConfigPath(path)))
  const called = (title: string, found: readonly ModelWarning[]) => found.map((one) => ({ ...one, title }))
  const others = [
    ...called("secret weak", findSecretWarnings(config)),
    ...called("model may not work", findModelWarnings(config, environment.variables)),
    ...called(usualTitle, [
      ...tokenWarnings(config),
      ...profileWarnings(config),
      ...commandWarnings(config),
      ...presetWarnings(config),
      ...mappingPathWarnings(config),
      ...mappingValueWarnings(config),
      ...personWarnings(config),
      ...channelWarnings(config),
      ...activeHoursWarnings(config),
      ...fileWarnings(snapshot),
    ]),
  ]
  return [...called(usualTitle, written), ...others.filter(({ path }) => !isTold.has(formatConfigPath(path)))]
}

const usualTitle = "configuration may not work"

/** Says each once, as long as it does not change. */
export function createConfigWarner(log: Log): (snapshot: ConfigSnapshot) => void {
  let told = new Set<string>()
  return (snapshot) => {
    const found = findConfigWarnings(snapshot).map((one) => ({ ...one, key: formatConfigPath(one.path) }))
    const idOf = ({ key, message }: { key: string; message: string }) => `${key}\n${message}`
    for (const one of found) {
      if (!told.has(idOf(one))) log.warn({ key: one.key, reason: one.message }, one.title)
    }
    told = new Set(found.map(idOf))
  }
}

/** As guides write what a person is to fill in: `<your token>`, and `...` behind a variable. */
const placeholder = /^(?:[\w./:-]*<[a-z][\w -]*>|\.{3}|\u2026|x{3,}|change-?me|your[-_ ][\w -]+)$/i

function findInSource(value: Json, path: ConfigPath, variables: Environment["variables"]): ModelWarning[] {
  const schemas = path.length === 0 ? [] : schemasAt(configSchema, path)
  if (schemas.length > 0 && schemas.every((schema) => openSchema(schema).meta.later === true)) {
    return [{ path, message: "is accepted, but has no effect in this release" }]
  }
  if (typeof value === "string") return placeholderIn(value, path, variables)
  if (Array.isArray(value)) return value.flatMap((entry, index) => findInSource(entry, [...path, index], variables))
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, entry]) => findInSource(entry, [...path, name], variables))
}

function placeholderIn(text: string, path: ConfigPath, variables: Environment["variables"]): ModelWarning[] {
  const [, name] = /^\$\{([A-Z_][A-Z0-9_]*)\}$/.exec(text) ?? []
  const value = name === undefined ? text : (variables[name] ?? "")
  if (!placeholder.test(value.trim())) return []
  const where = name === undefined ? "is" : `comes from the variable ${name}, which is`
  return [{ path, message: `${where} still the placeholder of a guide: put your own value there` }]
}

const tokenPattern = /^[1-9]\d{2,19}:[A-Za-z0-9_-]{10,60}$/

function tokenWarnings({ channels }: Config): ModelWarning[] {
  const { chatapp } = channels
  const base = ["channels", "chatapp"]
  const tokens: [ConfigPath, string | undefined][] = [
    [[...base, "botToken"], chatapp.botToken],
    ...Object.entries(chatapp.accounts).map(([name, { botToken }]): [ConfigPath, string | undefined] => [
      [...base, "accounts", name, "botToken"],
      botToken,
    ]),
  ]
  return tokens
    .filter(([, token]) => token !== undefined && !tokenPattern.test(token.trim()))
    .map(([path]) => ({
      path,
      message: "does not have the form of a bot token, <digits>:<secret>; ask @BotFather for it",
    }))
}

/** An account with a list of its own has that instead of the channel's. */
function commandWarnings({ channels }: Config): ModelWarning[] {
  const { customCommands = [], accounts } = channels.chatapp
  const base = ["channels", "chatapp"]
  const lists = [
    { path: [...base, "customCommands"], list: customCommands },
    ...Object.entries(accounts).map(([name, account]) => ({
      path: [...base, "accounts", name, "customCommands"],
      list: account.customCommands ?? [],
    })),
  ]
  return lists.flatMap(({ path, list }) =>
    customEntries({ customCommands: list }).problems.map(({ command, problem }) => ({
      path,
      message: command === "" ? `is left out in part: ${problem}` : `the entry "${command}" is left out: ${problem}`,
    })),
  )
}

function presetWarnings({ hooks }: Config): ModelWarning[] {
  return hooks.presets.flatMap((name, index) => {
    if (hookPresets.some((known) => known === name)) return []
    const near = nearestName(name, hookPresets)
    const hint = near === undefined ? `there are: ${hookPresets.join(", ")}` : `did you mean "${near}"?`
    return [{ path: ["hooks", "presets", index], message: `names a preset that does not exist; ${hint}` }]
  })
}

/** The endpoint answers 404, or is another: nobody would learn from that which entry is at fault. */
function mappingPathWarnings({ hooks }: Config): ModelWarning[] {
  return hooks.mappings.flatMap(({ match }, index) => {
    const wanted = match?.path
    if (wanted === undefined) return []
    const found = { path: ["hooks", "mappings", index, "match", "path"] }
    if (wanted === "wake" || wanted === "agent") {
      return [{ ...found, message: "is never reached: that path is a built-in endpoint" }]
    }
    if (isRequestPath(wanted)) return []
    return [{ ...found, message: "is never reached: a path has no spaces, no encoded or other than ASCII characters" }]
  })
}

/** Every delivery would be refused for it. What a mapping takes out of a payload is not known here. */
function mappingValueWarnings({ hooks }: Config): ModelWarning[] {
  const isWrong = (text: string | undefined, isKnown: (plain: string) => boolean) => {
    const plain = text?.trim() ?? ""
    return plain !== "" && !plain.includes("{{") && !isKnown(plain)
  }
  const isLevel = (plain: string) => thinkingLevels.some((level) => level === plain.toLowerCase())
  return hooks.mappings.flatMap(({ thinking, sessionKey }, index) => {
    const path = ["hooks", "mappings", index]
    const levels = thinkingLevels.join(", ")
    return [
      ...(isWrong(thinking, isLevel)
        ? [{ path: [...path, "thinking"], message: `is no thinking level; there are: ${levels}` }]
        : []),
      ...(isWrong(sessionKey, isHookKey)
        ? [
            {
              path: [...path, "sessionKey"],
              message: "is no key of a webhook's session; write one such as hook:orders",
            },
          ]
        : []),
    ]
  })
}

/** Everybody, an id, or a name as the platform lets people have them. */
const person = /^(?:\*|-?\d{1,16}|@?[A-Za-z]\w{3,31})$/

function personWarnings({ channels }: Config): ModelWarning[] {
  const { chatapp } = channels
  const base = ["channels", "chatapp"]
  const places = [
    { path: base, lists: chatapp },
    ...Object.entries(chatapp.accounts).map(([name, lists]) => ({ path: [...base, "accounts", name], lists })),
  ]
  return places.flatMap(({ path, lists }) =>
    (["allowFrom", "groupAllowFrom"] as const).flatMap((key) =>
      (lists[key] ?? []).flatMap((entry, index) =>
        person.test(stripPrefixes(String(entry).trim(), idPrefixes))
          ? []
          : [
              {
                path: [...path, key, index],
                message: `names nobody: ${JSON.stringify(entry)} is no numeric id and no @name`,
              },
            ],
      ),
    ),
  )
}

/** Where answers may be told to go. A name that is none would be met when the first one is to be sent. */
function channelWarnings({ agents, cron, hooks }: Config): ModelWarning[] {
  const heartbeats = [...channelNames, "last", "none"]
  const others = [...channelNames, "last"]
  const places: [ConfigPath, string | undefined, string[]][] = [
    [["agents", "defaults", "heartbeat", "target"], agents.defaults.heartbeat.target, heartbeats],
    ...agents.list.map(({ heartbeat }, index): [ConfigPath, string | undefined, string[]] => [
      ["agents", "list", index, "heartbeat", "target"],
      heartbeat?.target,
      heartbeats,
    ]),
    ...cron.jobs.map(({ channel }, index): [ConfigPath, string, string[]] => [
      ["cron", "jobs", index, "channel"],
      channel,
      others,
    ]),
    ...hooks.mappings.map(({ channel }, index): [ConfigPath, string | undefined, string[]] => [
      ["hooks", "mappings", index, "channel"],
      channel,
      others,
    ]),
  ]
  return places.flatMap(([path, given, names]) => {
    const name = given?.trim().toLowerCase()
    // What a mapping takes out of a payload is not known here.
    if (name === undefined || names.includes(name) || name.includes("{{")) return []
    const near = nearestName(name, names)
    const hint = near === undefined ? `there are: ${names.join(", ")}` : `did you mean "${near}"?`
    return [{ path, message: `names a channel that does not exist; ${hint}` }]
  })
}

const channelNames = ["chatapp", webChannel]

/** The end is the first minute that no longer counts: hours from a time to the same time are none, not all. */
function activeHoursWarnings({ agents }: Config): ModelWarning[] {
  const places: [ConfigPath, { start: string; end: string } | undefined][] = [
    [["agents", "defaults", "heartbeat", "activeHours"], agents.defaults.heartbeat.activeHours],
    ...agents.list.map(({ heartbeat }, index): [ConfigPath, { start: string; end: string } | undefined] => [
      ["agents", "list", index, "heartbeat", "activeHours"],
      heartbeat?.activeHours,
    ]),
  ]
  return places.flatMap(([path, hours]) => {
    const isNever = hours && (hours.start === hours.end || (hours.start === "24:00" && hours.end === "00:00"))
    if (!isNever) return []
    const message = `has no minute between ${hours.start} and ${hours.end}, so that no heartbeat ever runs; leave it out for the whole day`
    return [{ path, message }]
  })
}

/** Those that need no entry. */
const ownProfiles = ["managed", "relay"]

function profileWarnings({ browser }: Config): ModelWarning[] {
  const remote = browser.cdpUrl === undefined ? [] : ["remote"]
  const names = [...Object.keys(browser.profiles), ...ownProfiles, ...remote]
  if (!browser.enabled || names.includes(browser.defaultProfile)) return []
  const near = nearestName(browser.defaultProfile, names)
  const hint = near === undefined ? `there are: ${names.join(", ")}` : `did you mean "${near}"?`
  return [{ path: ["browser", "defaultProfile"], message: `names a profile that does not exist; ${hint}` }]
}

function fileWarnings({ config, environment, path: configPath }: ConfigSnapshot): ModelWarning[] {
  const { channels, browser, hooks } = config
  const { home, stateFolder } = environment
  const beside = dirname(resolve(configPath))
  const inState = (file: string | undefined) => file && resolveHome(file, home, stateFolder)
  const transforms = resolveHome(hooks.transformsDir ?? beside, home, beside)
  const { tokenFile, accounts } = channels.chatapp
  const files: [ConfigPath, string | undefined][] = [
    [["channels", "chatapp", "tokenFile"], inState(tokenFile)],
    ...Object.entries(accounts).map(([name, account]): [ConfigPath, string | undefined] => [
      ["channels", "chatapp", "accounts", name, "tokenFile"],
      inState(account.tokenFile),
    ]),
    [["browser", "executablePath"], browser.enabled ? browser.executablePath : undefined],
    ...hooks.mappings.map(({ verify }, index): [ConfigPath, string | undefined] => [
      ["hooks", "mappings", index, "verify", "keySetFile"],
      hooks.enabled && verify?.keySetFile ? resolveHome(verify.keySetFile, home, beside) : undefined,
    ]),
    ...hooks.mappings.map(({ transform }, index): [ConfigPath, string | undefined] => [
      ["hooks", "mappings", index, "transform", "module"],
      hooks.enabled && transform ? resolve(transforms, transform.module) : undefined,
    ]),
  ]
  return files.flatMap(([path, file]) => {
    if (!file) return []
    if (!existsSync(file)) return [{ path, message: `names a file that does not exist: ${file}` }]
    return path.at(-1) === "keySetFile" && !holdsKeySet(file)
      ? [{ path, message: `names a file that is no key set, as {"keys": [...]} in JSON: ${file}` }]
      : []
  })
}

/** Whether it has the outline of one: what its keys are worth is seen when a signature is checked. */
function holdsKeySet(file: string): boolean {
  try {
    const read = JSON.parse(readFileSync(file, "utf8")) as Json
    return isJsonObject(read) && Array.isArray(read["keys"]) && read["keys"].length > 0
  } catch {
    // Not JSON, or not for this user to read: no key set either way.
    return false
  }
}
