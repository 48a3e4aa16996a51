// Commands about profiles themselves: listed, made, removed, reset.
import { AppError } from "../../kernel/errors.ts"
import type { CreatedProfile, DeletedProfile, ProfileInfo, ResetReply } from "../contract.ts"
import { type CommandSpec, type Run, startMs } from "./command.ts"

export const profileCommands: CommandSpec[] = [
  {
    usage: "profiles",
    description: "List the browser profiles",
    example: "svc browser profiles --json",
    json: "ProfileList",
    perform: async ({ send, io }) => {
      const reply = await send<{ profiles: ProfileInfo[] }>("GET", "/profiles")
      return { reply, show: () => reply.profiles.forEach((profile) => io.print(profileLine(profile))) }
    },
  },
  {
    usage: "create-profile [name]",
    description: "Make a browser profile; it is kept in the configuration file",
    example:
      "svc browser create-profile work --color 0066CC\n  svc browser create-profile far --cdp-url 'wss://host.example?token=${FAR_TOKEN}'",
    json: "CreatedProfile",
    flags: [
      ["--name <name>", "its name: lower-case letters, digits and dashes"],
      ["--color <hex>", "tint of its browser, such as #0066CC (default: one that no other has)"],
      [
        "--cdp-url <url>",
        "address of a browser that runs elsewhere; ${NAME} stands for a variable of the gateway's environment",
      ],
      ["--driver <driver>", "how it is reached (default managed)", ["managed", "relay", "extension", "existing"]],
    ],
    perform: async ({ send, io, options }, name = "") => {
      const { color, cdpUrl, driver } = options
      const body = { name: nameOf(options, name), color, cdpUrl, driver }
      const reply = await send<CreatedProfile>("POST", "/profiles/create", { body, timeoutMs: startMs })
      const where = reply.isRemote ? `remote, ${reply.cdpUrl}` : (driver ?? "managed")
      return { reply, show: () => io.print(`created profile ${reply.profile} (${where}, ${reply.color})`) }
    },
  },
  {
    usage: "delete-profile [name]",
    description: "Stop a profile's browser, remove the profile, and move its data to the trash folder",
    example: "svc browser delete-profile work",
    json: "DeletedProfile",
    flags: [["--name <name>", "its name"]],
    perform: async ({ send, io, options }, name = "") => {
      const wanted = encodeURIComponent(nameOf(options, name))
      const reply = await send<DeletedProfile>("DELETE", `/profiles/${wanted}`, { timeoutMs: startMs })
      return { reply, show: () => io.print(`deleted profile ${reply.profile}${moved(reply.to)}`) }
    },
  },
  {
    usage: "reset-profile",
    description:
      "Stop a managed profile's browser and move its data to the trash folder: the next start is as the first",
    example: "svc browser reset-profile --browser-profile work",
    json: "ResetReply",
    perform: async ({ send, io }) => {
      const reply = await send<ResetReply>("POST", "/reset-profile", { body: {}, timeoutMs: startMs })
      const words = reply.moved ? moved(reply.to) : "; it had no data"
      return { reply, show: () => io.print(`reset profile ${reply.profile}${words}`) }
    },
  },
]

/** As the word behind the command or as an option; both are usual. */
function nameOf(options: Run["options"], word: string): string {
  const { name } = options
  if (word !== "" && (name === undefined || name === word)) return word
  if (word === "" && typeof name === "string" && name !== "") return name
  throw new AppError("bad-request", "Give the profile one name", { hint: "svc browser create-profile work" })
}

function moved(to: string | undefined): string {
  return to === undefined ? "" : `; its data is now in ${to}`
}

function profileLine(profile: ProfileInfo): string {
  const state = profile.running ? `running (${profile.tabCount} tabs)` : "stopped"
  const marks = `${profile.isDefault ? " [default]" : ""}${profile.isRemote ? " [remote]" : ""}`
  const where = profile.cdpUrl ?? (profile.cdpPort === null ? "no port" : `port ${profile.cdpPort}`)
  return `${profile.name}: ${state}${marks} ${where} ${profile.color}`
}
