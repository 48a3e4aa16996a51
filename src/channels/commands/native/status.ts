// `/status`: which model answers here, how the conversation stands, whether the gateway works.
import { describeUsage } from "../../../budget/index.ts"
import { AppError } from "../../../kernel/index.ts"
import type { Session, SessionSettings } from "../../../sessions/sessions.ts"
import type { ChatCommand, CommandCall, CommandServices } from "../contract.ts"

export const status: ChatCommand = {
  name: "status",
  summary: "Shows the model, the session, what it has used, and whether everything works",
  access: "anyone",
  time: "now",
  async run(call, services) {
    const session = services.sessions.find(call.sessionKey)
    const settings = session?.settings ?? {}
    const { running, waiting } = services.lanes.count(call.sessionKey)
    const { version, startedAt, account } = services.status
    const problems = await services.status.problems()
    const lines = [
      `**Gateway** ${version}, up ${duration(services.clock.now() - startedAt)}, chat ${await account(call.route)}`,
      `**Agent** ${call.agentId}`,
      `**Model** ${modelText(services, call.agentId, settings)}`,
      `**Reasoning** ${settings.reasoning ?? "off"}`,
      session
        ? `**Session** ${session.sessionId.slice(0, 8)}, last used ${duration(services.clock.now() - session.updatedAt)} ago`
        : "**Session** none yet",
      `**Usage** ${usageText(services, session, call.sender.origin === "owner")}`,
      `**Messages** ${running} under way, ${waiting} waiting`,
      ...(call.route.chatKind === "private" ? [] : [`**Activation** ${settings.activation ?? "as configured"}`]),
      ...heartbeatLines(services.status.heartbeat(call)),
      ...problemLines(problems, call),
    ]
    // Reasons may hold what other programs and servers have said.
    return { text: lines.join("\n"), ...(problems.length > 0 ? { isForeign: true as const } : {}) }
  },
}

function heartbeatLines(text: string | undefined): string[] {
  return text === undefined ? [] : [`**Heartbeat** ${text}`]
}

/** Reasons name addresses and paths: an owner reads them, in a private chat; whoever else is told what does not work. */
function problemLines(
  problems: Awaited<ReturnType<CommandServices["status"]["problems"]>>,
  { sender, route }: CommandCall,
): string[] {
  if (problems.length === 0) return ["**Problems** none"]
  const parts = [...new Set(problems.map(({ part }) => part))].join(", ")
  if (sender.origin !== "owner" || route.chatKind !== "private") return [`**Problems** with: ${parts}`]
  const lines = problems.map(({ part, problem, next }) => `- ${part}: ${problem}${next ? `. Next: ${next}` : ""}`)
  return ["**Problems**", ...lines]
}

function modelText(services: CommandServices, agentId: string, { model, thinking }: SessionSettings): string {
  try {
    const described = services.models.describe({ agentId, model, thinking })
    return `\`${described.id}\`, thinking ${described.thinking}`
  } catch (error) {
    if (error instanceof AppError) return `not usable: ${error.message}`
    throw error
  }
}

/** The day's sum is of all sessions: what others use is the owner's to know. */
function usageText({ usage }: CommandServices, session: Session | undefined, isOwner: boolean): string {
  const own = session ? describeUsage(usage.session(session.key, session.createdAt)) : "nothing"
  return isOwner ? `this session ${own}; today ${describeUsage(usage.today())}` : `this session ${own}`
}

function duration(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000))
  if (minutes < 1) return "less than a minute"
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`
}
