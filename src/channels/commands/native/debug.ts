// `/debug`: what an owner needs to find out why something does not answer: the session, the route, what waits, the process.
import type { ChatCommand } from "../contract.ts"

export const debug: ChatCommand = {
  name: "debug",
  summary: "Shows the inner state of this conversation",
  access: "owner",
  tellsRefused: true,
  switchedBy: "debug",
  where: "private",
  time: "now",
  run(call, services) {
    if (call.sender.origin !== "owner") return { text: "Only owners may look at that." }
    if (!services.isOn("debug")) {
      return { text: "`/debug` is switched off. Set `commands.debug` to true in the configuration file." }
    }
    const { sessionKey, agentId, route } = call
    const session = services.sessions.find(sessionKey)
    const { running, waiting } = services.lanes.count(sessionKey)
    const facts = {
      agent: agentId,
      session: sessionKey,
      sessionId: session?.sessionId ?? null,
      settings: session?.settings ?? {},
      route,
      turns: { running, waiting },
      ...services.inspect(),
    }
    return { text: `\`\`\`json\n${JSON.stringify(facts, null, 2)}\n\`\`\`` }
  },
}
