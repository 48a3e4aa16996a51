// Spending within its caps, with what it needs of the rest: the chat in which an owner is told, and the runs that go on.
import { type CapNotice, type CapState, type Governor, type Ledger, createGovernor } from "../budget/index.ts"
import { describeAmounts, describeCap, describeNeeded, describeUsed } from "../budget/index.ts"
import type { Channel } from "../channels/contract.ts"
import { capButtons } from "../channels/index.ts"
import { formatConfigPath } from "../config/index.ts"
import type { ChannelSender } from "../delivery/contract.ts"
import type { GatewayActions } from "../gateway/index.ts"
import type { Sessions } from "../sessions/index.ts"
import { type LaneRunner, type Write, reopenJob } from "../store/index.ts"
import { type Core, userTimeZone } from "./core.ts"
import { ownersChat } from "./owners-chat.ts"

export interface BudgetParts {
  ledger: Ledger
  sessions: Sessions
  channels: () => ReadonlyMap<string, Channel>
  senders: () => ReadonlyMap<string, ChannelSender>
}

export function composeBudget(core: Core, parts: BudgetParts): Governor {
  const { store, clock, ids, background } = core
  const log = core.log.child({ part: "budget" })
  return createGovernor({
    store,
    ledger: parts.ledger,
    clock,
    ids,
    log,
    background,
    onRecovered: (listener) => core.kept.onRecovered(listener),
    config: () => core.config().budget,
    timeZone: () => userTimeZone(core.config()),
    tell(write, notice) {
      const toldAt = tell(core, parts, write, notice)
      const fields = { cap: notice.cap.id, percent: notice.percent, told: toldAt !== undefined }
      log.warn(fields, notice.percent === 100 ? "cap reached" : "cap nearly reached")
      return toldAt
    },
    resume: (write, runId) => reopenJob(store, write, runId),
  })
}

/** The chat that was told. */
function tell(core: Core, parts: BudgetParts, write: Write, notice: CapNotice): string | undefined {
  const route = ownersChat(parts, notice.agentId)
  const sender = route && parts.senders().get(route.channel)
  if (!route || !sender) return undefined
  const isReached = notice.percent === 100
  const buttons = isReached ? capButtons(notice.cap, notice.needed) : []
  const canTouch = parts.channels().get(route.channel)?.commands.canShowButtons(route) ?? false
  const typed =
    canTouch || buttons.length === 0
      ? ""
      : `\n${buttons
          .flat()
          .map(({ text, data }) => `${text}: \`${data}\``)
          .join("\n")}`
  const words = isReached ? describeStop(notice) : describeWarning(notice, core.config().budget.timersUpTo)
  const text = `${core.redactor.hideRegistered(words)}${typed}`
  const reply = { text, media: [], noPreview: true as const }
  const rows = sender.plan(route, { ...reply, ...(canTouch && buttons.length > 0 ? { buttons } : {}) })
  for (const row of rows) write.addOutbox(row)
  return rows.length === 0 ? undefined : `${route.channel} ${route.account} ${route.chatId}`
}

function describeStop({ cap, model, isPriceUnknown, needed }: CapNotice): string {
  const what = {
    day: "I have stopped for today",
    month: "I have stopped for this month",
    agent: "I have stopped for today",
    session: "I have stopped in this conversation for today",
    job: "I have stopped this task",
    heartbeat: "Heartbeats have stopped for today",
    schedule: "Schedules have stopped for today",
  }[cap.scope]
  const whose = cap.scope === "session" ? ` (\`${cap.key}\`)` : ""
  const price =
    isPriceUnknown && cap.dollars
      ? ` The price of \`${model ?? ""}\` is not known, so it counts as the dearest that is: set it with \`${pricesOf(model ?? "")}\`.`
      : ""
  return `**${what}**: ${describeCap(cap)}${whose} leaves no room for the next call${describeNeeded(cap, needed)}. ${describeUsed(cap)}.${price}`
}

/** The key that takes the prices of a model, which is named `provider/model`. */
function pricesOf(model: string): string {
  const [provider = "", ...name] = model.split("/")
  return formatConfigPath(["models", "providers", provider, "models", name.join("/"), "prices"])
}

function describeWarning({ cap, percent }: CapNotice, timersUpTo: number): string {
  const share = Math.floor(cap.share * 100)
  const isShared = cap.scope === "day" || cap.scope === "month" || cap.scope === "agent"
  const hasStopped = isShared && cap.share >= timersUpTo * 0.999
  const timers =
    percent === 80 && hasStopped ? " Heartbeats and schedules have stopped; the rest is left for people." : ""
  return `${share} % of ${describeCap(cap)} is used: ${describeAmounts(cap)}.${timers}`
}

export function budgetActions(
  core: Core,
  { budget, runner }: { budget: Governor; runner: LaneRunner },
): GatewayActions["budget"] {
  return {
    look() {
      const { calls, tokens, nanoDollars } = budget.cut()
      const cut = { calls, tokens, dollars: nanoDollars / 1e9 }
      return { timeZone: userTimeZone(core.config()), caps: budget.list(), cut }
    },
    async allow(cap, allowance) {
      const allowed = await budget.allow(cap, allowance, "gateway")
      if (allowed.resumed > 0) runner.wake()
      return allowed
    },
  }
}

/** For `svc status`: what keeps the agent from answering. */
export function capProblems(caps: readonly CapState[]): { part: string; problem: string; next: string }[] {
  return caps
    .filter(({ state }) => state === "reached")
    .map((cap) => ({
      part: "budget",
      problem:
        cap.share >= 1
          ? `${describeCap(cap)} is used: ${describeAmounts(cap)}`
          : `${describeCap(cap)} leaves no room for another call: ${describeUsed(cap)}`,
      next: `svc usage allow ${cap.id} --until-tomorrow`,
    }))
}
