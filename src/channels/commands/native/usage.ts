// `/usage`: what the calls of models took, and how the caps stand; an owner allows more with the buttons below.
import {
  type CapAllowance,
  type CapNotice,
  type CapState,
  describeAmounts,
  describeCap,
  describeUsage,
  enoughMore,
  mostOf,
  noCapIsNear,
  oneMore,
} from "../../../budget/index.ts"
import type { ReplyButton } from "../../../delivery/contract.ts"
import { AppError } from "../../../kernel/index.ts"
import type { ChatCommand, CommandServices } from "../contract.ts"

/** Of the caps that are shown; those of conversations are many. */
const mostShown = 12

const usageText = "more <cap> [$5 | 50000 tokens] | lift <cap>"

export const usage: ChatCommand = {
  name: "usage",
  summary: "Shows what was used, and the caps on spending",
  usage: usageText,
  access: "authorised",
  time: "now",
  async run({ args, sender, sessionKey }, services) {
    const isOwner = sender.origin === "owner"
    if (args.trim() !== "") {
      if (!isOwner) throw new AppError("forbidden", "Only an owner may allow more.")
      return await allow(args, sender.id, services)
    }
    const session = services.sessions.find(sessionKey)
    const own = session ? describeUsage(services.usage.session(session.key, session.createdAt)) : "nothing"
    // What others use, and how much there is, is the owner's to know.
    if (!isOwner) return { text: `**This conversation** ${own}` }
    const caps = services.budget.list()
    const lines = [
      `**This conversation** ${own}`,
      `**Today** ${describeUsage(services.usage.today())}`,
      ...capLines(caps),
    ]
    const reached = caps.filter(({ state }) => state === "reached").slice(0, 3)
    const buttons = reached.flatMap((cap) => capButtons(cap))
    return { text: lines.join("\n"), ...(buttons.length > 0 ? { buttons } : {}) }
  },
}

/** Below the message that a cap is used, with what the call needs that was not made, and below `/usage`. */
export function capButtons(cap: CapState, needed?: CapNotice["needed"]): ReplyButton[][] {
  const { id, scope } = cap
  const more = enoughMore(cap, needed)
  const amountNow = cap[more.unit]
  const amount = more.unit === "dollars" ? `$${more.amount}` : `${more.amount.toLocaleString("en-US")} tokens`
  // A second touch finds another cap than this, and allows nothing.
  const seen = amountNow ? ` ${amount.replaceAll(",", "")} at:${mostOf(amountNow)}` : ""
  const lift = scope === "job" ? "No cap for this task" : "No cap until tomorrow"
  return [
    [
      { text: `Allow ${amount} more`, data: `/usage more ${id}${seen}`, style: "success", runs: true },
      { text: lift, data: `/usage lift ${id}`, style: "danger", runs: true },
    ],
  ]
}

async function allow(args: string, by: string, { budget }: CommandServices): Promise<{ text: string }> {
  const [word = "", id = "", ...words] = args.trim().split(/\s+/)
  const wanted = id === "" ? undefined : allowanceOf(word, words.join(" "), id, budget)
  if (!wanted) throw new AppError("bad-request", "I do not know what to allow", { hint: `/usage ${usageText}` })
  const { cap, resumed, isChanged } = await budget.allow(id, wanted, `chat:${by}`)
  const now = cap.state === "lifted" ? "does not hold until tomorrow" : `is now: ${describeAmounts(cap)} used`
  const goesOn = resumed === 0 ? "" : ` What I had stopped goes on (${resumed}).`
  const name = describeCap(cap)
  const subject = `${name[0]?.toUpperCase()}${name.slice(1)}`
  if (isChanged) return { text: `${subject} was raised already, and ${now}. Write \`/usage more ${id}\` for more.` }
  return { text: `${subject} ${now}.${goesOn}` }
}

/** Undefined for what is not understood. A bare number could be either of two units. */
function allowanceOf(word: string, amount: string, id: string, budget: CommandServices["budget"]) {
  if (word === "lift") return amount === "" ? { untilTomorrow: true } : undefined
  if (word !== "more") return undefined
  const seen = /(?:^| )at:(\d+(?:\.\d+)?)$/.exec(amount)
  const asked = amountOf(seen ? amount.slice(0, seen.index) : amount, id, budget)
  return asked && seen ? { ...asked, ifMostIs: Number(seen[1]) } : asked
}

function amountOf(words: string, id: string, budget: CommandServices["budget"]): CapAllowance | undefined {
  if (words === "") {
    const unit = budget.list().find((cap) => cap.id === id)?.nearest ?? "dollars"
    return { [unit]: oneMore[unit] }
  }
  const dollars = /^\$(\d{1,6}(?:\.\d{1,2})?)$/.exec(words)?.[1]
  const tokens = /^(\d{1,9}) tokens?$/.exec(words.replaceAll(",", ""))?.[1]
  const asked = Number(dollars ?? tokens ?? 0)
  return asked > 0 ? { [dollars === undefined ? "tokens" : "dollars"]: asked } : undefined
}

function capLines(caps: readonly CapState[]): string[] {
  if (caps.length === 0) return ["**Caps** none is set"]
  const lines = caps
    .filter(({ isListed }) => isListed)
    .slice(0, mostShown)
    .map(capLine)
  return lines.length > 0 ? lines : [`**Caps** ${noCapIsNear}`]
}

function capLine(cap: CapState): string {
  const state = { open: "", reached: " - reached", lifted: " - lifted until tomorrow" }[cap.state]
  return `**Cap** \`${cap.id}\` ${describeAmounts(cap)} (${Math.floor(cap.share * 100)} %)${state}`
}
