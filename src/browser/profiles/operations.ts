// What can be done with profiles themselves. A change goes request -> checks -> configuration file -> registry, so that
// it holds at once and after a restart; browsers of other profiles are not touched.
import { AppError } from "../../kernel/index.ts"
import type { CoreOptions, ProfileEntry } from "../access.ts"
import type { Caller } from "../caller.ts"
import type { CreatedProfile, DeletedProfile, ProfileInfo, ResetReply } from "../contract.ts"
import type { CreateProfileRequest } from "../requests/profiles.ts"
import type { BrowserProfile } from "./contract.ts"
import { managedName } from "./definitions.ts"
import { profileFolder } from "./registry.ts"
import { moveToTrash } from "./trash.ts"

const palette = [
  "#FF4500",
  "#0066CC",
  "#00AA00",
  "#9933FF",
  "#FF6699",
  "#00CCCC",
  "#FF9900",
  "#6666FF",
  "#CC3366",
  "#339966",
] as const

export function profileOperations(options: CoreOptions) {
  const { registry } = options
  // Changes one after the other: two of them must not find the same name or colour free.
  let line: Promise<unknown> = Promise.resolve()
  const inLine = <T>(work: () => Promise<T>): Promise<T> => {
    const done = line.then(work)
    line = done.catch(() => undefined)
    return done
  }
  const describe = (profile: BrowserProfile): ProfileInfo => {
    const { running, cdpPort, cdpUrl } = profile.state()
    return {
      name: profile.name,
      cdpPort,
      cdpUrl,
      color: profile.color,
      running,
      connected: running,
      tabCount: profile.live?.tabs.list.length ?? 0,
      isDefault: profile.name === registry.defaultName,
      isRemote: profile.kind === "remote",
    }
  }
  return {
    /** As they are known to be, without asking any browser. */
    listProfiles: (): ProfileInfo[] => registry.all.map(describe),
    async profiles(caller?: Caller): Promise<{ profiles: ProfileInfo[] }> {
      const probe = async (profile: BrowserProfile) => {
        const { ready, tabCount } = await profile.probe(caller?.signal)
        return { ...describe(profile), running: ready, tabCount }
      }
      return { profiles: await Promise.all(registry.all.map(probe)) }
    },
    createProfile: (request: CreateProfileRequest) => inLine(() => createProfile(options, request)),
    deleteProfile: (name: string) => inLine(() => deleteProfile(options, name)),
    async resetProfile(caller: Caller): Promise<ResetReply> {
      const profile = registry.get(caller.profile)
      const { name } = profile
      const { from, to } = await profile.reset((folder) => toTrash(options, folder, name))
      options.log.info({ profile: name, from, to }, "browser profile reset")
      return { ok: true, profile: name, moved: to !== undefined, from, ...(to === undefined ? {} : { to }) }
    },
  }
}

async function createProfile(options: CoreOptions, request: CreateProfileRequest): Promise<CreatedProfile> {
  const { registry, settings } = options
  const { name, cdpUrl, driver } = request
  if (driver !== undefined && driver !== "managed" && cdpUrl !== undefined) {
    throw new AppError("bad-request", `A profile with driver ${driver} has no cdpUrl`, {
      hint: "Leave one of them out",
    })
  }
  // `managed` and `remote` are there without being written down; written down they can be given settings of their own.
  if (Object.hasOwn(settings.profiles, name) || (registry.has(name) && name !== managedName)) {
    throw new AppError("conflict", `There is a profile ${name} already`, { hint: "svc browser profiles lists them" })
  }
  const color = request.color ?? (name === managedName ? settings.color : freeColor(options))
  const way = driver === undefined || driver === "managed" ? {} : { driver }
  const entry: ProfileEntry = { color, ...way, ...(cdpUrl === undefined ? {} : { cdpUrl }) }
  await options.changeProfile(name, entry)
  const { cdpPort, cdpUrl: shown } = registry.get(name).state()
  options.log.info({ profile: name, cdpPort, cdpUrl: shown }, "browser profile created")
  return { ok: true, profile: name, cdpPort, cdpUrl: shown, color, isRemote: cdpUrl !== undefined }
}

function freeColor({ registry, settings }: CoreOptions): string {
  const used = new Set([settings.color, ...registry.all.map(({ color }) => color)])
  return palette.find((color) => !used.has(color)) ?? (palette[registry.all.length % palette.length] as string)
}

async function deleteProfile(options: CoreOptions, name: string): Promise<DeletedProfile> {
  const { registry, settings } = options
  if (name === registry.defaultName) {
    throw new AppError("bad-request", `${name} is the default profile`, {
      hint: "Set browser.defaultProfile to another profile first",
    })
  }
  if (!Object.hasOwn(settings.profiles, name)) {
    const known = registry.all.find((profile) => profile.name === name)
    const hint = known?.owned
      ? "It is always there; svc browser reset-profile empties it"
      : known
        ? "relay is always there; remote goes with browser.cdpUrl"
        : "Those that there are: svc browser profiles"
    throw new AppError("profile-not-found", `There is no profile ${name} in the configuration`, { hint })
  }
  const isOurs = registry.all.some((profile) => profile.name === name && profile.owned)
  await options.changeProfile(name, undefined)
  const to = isOurs ? await toTrash(options, profileFolder(options.stateFolder, name), name) : undefined
  options.log.info({ profile: name, to }, "browser profile deleted")
  return { ok: true, profile: name, deleted: to !== undefined, ...(to === undefined ? {} : { to }) }
}

function toTrash({ stateFolder, clock }: CoreOptions, path: string, name: string): Promise<string | undefined> {
  return moveToTrash(path, { stateFolder, name, now: clock.now() })
}
