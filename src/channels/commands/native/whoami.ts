// `/whoami`: the ids that an operator needs for the configuration.
import type { Origin } from "../../../sessions/route.ts"
import type { ChatCommand } from "../contract.ts"

const standings: Partial<Record<Origin, string>> = {
  owner: "owner",
  "approved-sender": "let in",
  "group-member": "member of this group",
}

export const whoami: ChatCommand = {
  name: "whoami",
  aliases: ["id"],
  summary: "Shows your user id and the id of this chat",
  access: "anyone",
  time: "now",
  run({ route, sender }) {
    const list = route.chatKind === "private" ? "allowFrom" : "groupAllowFrom"
    const lines = [
      `**Channel** ${route.channel}, account ${route.account}`,
      `**User id** \`${sender.id}\``,
      ...(sender.username === undefined ? [] : [`**Username** \`@${sender.username}\``]),
      `**Chat** \`${route.chatId}\``,
      ...(route.threadId === undefined ? [] : [`**Topic** \`${route.threadId}\``]),
      `**Standing** ${standings[sender.origin] ?? sender.origin}`,
      "",
      `In the configuration: \`channels.${route.channel}.${list}: ["${sender.id}"]\``,
    ]
    return { text: lines.join("\n") }
  },
}
