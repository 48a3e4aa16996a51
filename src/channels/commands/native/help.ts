// `/help`: the first steps. `/commands`: everything that can be typed here.
import { mayUse } from "../access.ts"
import type { ChatCommand, CommandCall, CommandServices } from "../contract.ts"

export const help: ChatCommand = {
  name: "help",
  summary: "Shows what you can do here",
  access: "anyone",
  time: "now",
  run(call, services) {
    const inGroup = call.route.chatKind !== "private"
    const lines = [
      inGroup
        ? "Mention me or answer one of my messages, and I will answer here."
        : "Write to me as you would to a person; I answer here.",
      "",
      ...usable(call, services)
        .filter(({ name }) => ["status", "stop", "new", "model"].includes(name))
        .map(line),
      "",
      "/commands lists all commands.",
    ]
    return { text: lines.join("\n") }
  },
}

export const commandsList: ChatCommand = {
  name: "commands",
  summary: "Lists all commands",
  access: "anyone",
  time: "now",
  run(call, services) {
    const custom = services.customCommands(call.route).map(({ command, description }) => `/${command} - ${description}`)
    return { text: [...usable(call, services).map(line), ...(custom.length > 0 ? ["", ...custom] : [])].join("\n") }
  },
}

/** Those that the caller would not be refused here. */
function usable(call: CommandCall, services: CommandServices): ChatCommand[] {
  const isPrivate = call.route.chatKind === "private"
  return services.commands.filter((command) => {
    if (command.isUnlisted) return false
    if (command.switchedBy !== undefined && !services.isOn(command.switchedBy)) return false
    if (command.where !== undefined && (command.where === "private") !== isPrivate) return false
    return mayUse(command, call.sender, { useAccessGroups: false })
  })
}

function line({ name, usage, summary }: ChatCommand): string {
  return `/${name}${usage === undefined ? "" : ` \`${usage}\``} - ${summary}`
}
