// Act `run` for the agent: each step is looked at as the call that it would be by itself, at the moment when it is its turn.
// Nothing can be done by a script that could not be done by single calls, and what an owner is asked about stops it.
import type { ToolContext, ToolResult } from "../../agent/tool.ts"
import { AppError, errorTable, isJsonObject, type JsonObject } from "../../kernel/index.ts"
import type { Caller } from "../caller.ts"
import type { RunReply } from "../contract.ts"
import { parseAct, parseRun } from "../requests/index.ts"
import type { Target } from "../sandbox/target.ts"
import type { TabHands } from "../script/run.ts"
import { type ScriptShelf, deedOf, performScript, plainHands } from "../script/perform.ts"
import type { KeptScript } from "../script/shelf.ts"
import { withinSites } from "./address.ts"
import { describeCall } from "./describe.ts"
import { heldToSites } from "./gate.ts"
import { type BrowserToolInput, requestOf } from "./input.ts"
import { callerOf, gateCall } from "./rules.ts"

export async function performForAgent(
  target: Target,
  value: BrowserToolInput,
  given: ToolContext,
  shelf: ScriptShelf,
): Promise<ToolResult> {
  const request = parseRun(requestOf(value))
  const whole = await withSteps(value, shelf)
  const kept = request.script === undefined ? undefined : await shelf.readScript(request.script)
  const context = kept ? withSites(given, kept) : given
  const caller = callerOf(value, context, target)
  // Callers who are no turn are asked about nothing.
  const isFree = context.approved && context.confirms === undefined
  const allowed = context.approved && !isFree ? (await describeCall(target.core, whole, caller)).sites : []
  const reply = await performScript(target.core, request, caller, {
    shelf,
    isNamed: (site) => given.sites.has(site),
    keepsTriedOnly: given.tainted && !given.approved,
    handsFor: (own, targetId) =>
      isFree
        ? plainHands(target.core, own, targetId)
        : agentHands(target, { value, targetId, allowed: new Set(allowed), context: withSignal(context, own) }),
  })
  return present(reply, target, kept !== undefined)
}

/** The same with the steps of the kept script that it names, for whoever is asked about it. */
export async function withSteps(value: BrowserToolInput, shelf: ScriptShelf): Promise<BrowserToolInput> {
  const request = requestOf(value)
  if (!isJsonObject(request) || typeof request["script"] !== "string") return value
  const { start, steps } = await shelf.readScript(request["script"])
  const { script: _name, ...rest } = request
  const open = start === "" ? [] : [{ kind: "navigate", url: start }]
  return { ...value, action: "act", request: { ...rest, steps: [...open, ...steps] } }
}

/** An owner who has allowed it, or asks for it before words of others were read, names the sites that it was made on. */
function withSites(context: ToolContext, { sites, named }: KeptScript): ToolContext {
  const { sites: own, tainted, approved } = context
  const more = approved ? sites : tainted ? [] : named
  return {
    ...context,
    sites: {
      has: (site) => own.has(site) || more.includes(site),
      quotes: (address) => own.quotes(address),
      list: () => [...own.list(), ...more],
      add: (added) => own.add(added),
    },
  }
}

function withSignal(context: ToolContext, { signal }: Caller): ToolContext {
  return { ...context, signal: signal ?? context.signal, approved: false }
}

interface Step {
  value: BrowserToolInput
  targetId: string
  /** Sites that the owner was told of when the whole script was asked about. */
  allowed: ReadonlySet<string>
  context: ToolContext
}

/**
 * A page decides what stands behind words and where a click leads, so every step counts as one that was made after words
 * of others were read; only an address that stands in the script itself counts as the turn does.
 */
function agentHands(target: Target, step: Step): TabHands {
  const { core } = target
  const { targetId } = step
  const usual = ["target", "node", "profile"].flatMap((name) =>
    step.value[name] === undefined ? [] : [[name, step.value[name]]],
  )
  const call = (fields: { action: BrowserToolInput["action"] } & JsonObject): BrowserToolInput => ({
    ...Object.fromEntries(usual),
    ...fields,
  })
  const tainted = { ...step.context, tainted: true }
  return {
    async act(fields) {
      const request = { ...fields, targetId }
      const value = call({ action: "act", request })
      await allow(target, value, tainted, step)
      return deedOf(await core.act(callerOf(value, tainted, target), parseAct(request)))
    },
    async navigate(url, isForeign) {
      const context = isForeign ? tainted : step.context
      const value = call({ action: "navigate", url, targetId })
      await allow(target, value, context, step)
      const caller = callerOf(value, context, target)
      const go = (own: Caller) => core.navigate(own, { url, targetId, timeoutMs: 20_000 })
      return deedOf(await withinSites(core, value, { caller, context }, go))
    },
    async answer({ accept, promptText }) {
      const words = promptText === undefined ? {} : { promptText }
      const value = call({ action: "dialog", accept, ...words, targetId })
      await allow(target, value, tainted, step)
      const caller = await heldToSites(core, value, callerOf(value, tainted, target), tainted)
      return deedOf(await core.answerDialog(caller, { accept, ...words, targetId, timeoutMs: 120_000 }))
    },
    look: (request) => core.look(callerOf(step.value, step.context, target), { ...request, targetId }),
  }
}

/** Throws `forbidden` for what an owner would be asked about. */
async function allow(
  target: Target,
  value: BrowserToolInput,
  context: ToolContext,
  { allowed }: Pick<Step, "allowed">,
): Promise<void> {
  const gated = (await gateCall(target, value, context)) ?? (await confirmed(target, value, context, allowed))
  if (!gated) return
  throw new AppError("forbidden", gated.reason, {
    hint: "Do this step as a single call: your owner is asked about it then. Go on with the others afterwards",
  })
}

async function confirmed(target: Target, value: BrowserToolInput, context: ToolContext, allowed: ReadonlySet<string>) {
  const gated = await context.confirms?.(value, context)
  if (!gated || allowed.size === 0) return gated
  const { sites } = await describeCall(target.core, value, callerOf(value, context, target))
  return sites.every((site) => allowed.has(site)) ? undefined : gated
}

/** Words of pages, and messages that may quote them, are content; codes and our own hints are the note. */
function present(reply: RunReply, { kind }: Target, isKept: boolean): ToolResult {
  const { ok: _ok, snapshot, truncated: _cut, stopped, ...rest } = reply
  const { hint, ...where } = stopped ?? {}
  const content: ToolResult["content"] = [
    { type: "text", text: JSON.stringify({ ...rest, ...(stopped ? { stopped: where } : {}) }) },
  ]
  if (snapshot !== undefined) content.push({ type: "text", text: snapshot })
  if (!stopped) return { content }
  const meaning = Object.hasOwn(errorTable, stopped.code)
    ? errorTable[stopped.code as keyof typeof errorTable].meaning
    : ""
  const advice = hint === undefined || kind === "node" ? "" : ` ${hint}.`
  return {
    isError: true,
    note: `The script stopped at step ${stopped.step}: ${stopped.code}: ${meaning}${advice} What came before it is done: go on from there${isKept ? " by yourself; the page may not be as it was when the script was kept, so keep it anew once it works" : ""}.`,
    content,
  }
}
