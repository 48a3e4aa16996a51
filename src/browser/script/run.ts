// The steps of a script, one after the other, through hands that do each as a call of its own: by the person's rules and
// the page's state at that moment. Stops at the first step that cannot be done, and says which and why.
import { AppError, type ErrorCode, type Json, type JsonObject } from "../../kernel/index.ts"
import { matchesUrl } from "../page/url-pattern.ts"
import { type Found, type LookReply, type LookRequest, oneOf } from "./elements.ts"
import { type Condition, type Placed, type Script, type Step, type Target, type Test, findMs } from "./form.ts"
import { Values, numberIn, textOf } from "./values.ts"

export interface Deed {
  url: string
  dialog?: unknown
  closed?: true | undefined
  result?: unknown
  note?: string | undefined
}

/** Who does the steps in one tab. `isForeign`: words of a page are in what is done. */
export interface TabHands {
  act(fields: JsonObject, isForeign: boolean): Promise<Deed>
  navigate(url: string, isForeign: boolean): Promise<Deed>
  answer(request: { accept: boolean; promptText?: string | undefined }, isForeign: boolean): Promise<Deed>
  look(request: Omit<LookRequest, "targetId" | "opened">): Promise<LookReply>
}

/** Who does the steps of a script: in the tab that was chosen at the start, until it follows another. */
export interface Hands extends TabHands {
  /** Goes on in the tab that this one has opened. */
  follow(timeoutMs: number): Promise<Deed>
}

export interface Stop {
  /** `3`, or `3.2` inside a loop or condition. */
  step: string
  kind: string
  /** Which time round, from 1, in the innermost loop. */
  round?: number
  code: ErrorCode
  message: string
  hint?: string
}

export interface Outcome {
  /** Steps that were done, each time round counted. */
  done: number
  values: Record<string, Json>
  stopped?: Stop
  /** What pages and the browser said beside. */
  notes: string[]
  /** Addresses at which steps were done. */
  urls: Set<string>
  /** Places of acts that were never done: in branches that were not taken, loops that did not turn. */
  untried: string[]
}

export interface RunOptions {
  values: Readonly<Record<string, Json>>
  /** Writes down by which words elements are found again. */
  records: boolean
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/** Done steps, so that no loop goes on for ever. */
const maxDone = 500

/** Rounds and steps looked at: loops in loops of nothing but conditions do no step, and would hold the process. */
const maxTurns = 5_000

/** `handsFor` makes the hands for the time that the script has. */
export async function runScript(
  script: Script,
  handsFor: (signal: AbortSignal) => Hands,
  options: RunOptions,
): Promise<Outcome> {
  const limit = AbortSignal.timeout(options.timeoutMs)
  const running: Running = {
    hands: handsFor(options.signal ? AbortSignal.any([options.signal, limit]) : limit),
    values: new Values(options.values),
    records: options.records,
    limit,
    outcome: { done: 0, values: {}, notes: [], urls: new Set(), untried: [] },
    tried: new Set(),
    at: undefined,
    round: undefined,
    turns: 0,
    dialog: false,
  }
  try {
    await runSteps(running, script.steps)
  } catch (error) {
    options.signal?.throwIfAborted()
    running.outcome.stopped = stopOf(running, error, options.timeoutMs)
  }
  const untried = actsOf(script.steps)
    .filter((step) => !running.tried.has(step))
    .map(({ place }) => place)
  return { ...running.outcome, values: running.values.all(), untried }
}

/** What a script does to pages, in all of its branches. */
function actsOf(steps: readonly Step[]): Step[] {
  return steps.flatMap((step) => {
    if (step.kind === "if") return actsOf([...step.steps, ...step.otherwise])
    if (step.kind === "repeat") return actsOf(step.steps)
    return step.kind === "act" || step.kind === "navigate" || step.kind === "dialog" ? [step] : []
  })
}

interface Running {
  hands: Hands
  values: Values
  records: boolean
  limit: AbortSignal
  outcome: Outcome
  at: Step | undefined
  round: number | undefined
  turns: number
  tried: Set<Step>
  /** The page asks something: nothing else is done before it has an answer. */
  dialog: boolean
}

function stopOf({ at, round, limit }: Running, error: unknown, timeoutMs: number): Stop {
  const where = { step: at?.place ?? "", kind: at?.kind === "act" ? String(at.fields["kind"]) : (at?.kind ?? "") }
  const known = error instanceof AppError ? error : undefined
  if (!known && !limit.aborted) throw error
  const hint = limit.aborted ? "Give it more (timeoutMs, 300000 at most), or do it in several scripts" : known?.hint
  return {
    ...where,
    ...(round === undefined ? {} : { round }),
    code: limit.aborted ? "timeout" : (known?.code ?? "internal"),
    message: limit.aborted ? `The script's ${timeoutMs} ms are over` : (known?.message ?? ""),
    ...(hint === undefined ? {} : { hint }),
  }
}

async function runSteps(running: Running, steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    running.at = step
    running.limit.throwIfAborted()
    countTurn(running)
    if (running.outcome.done >= maxDone) throw new AppError("turn-limit", `A script does at most ${maxDone} steps`)
    if (running.dialog && step.kind !== "dialog") {
      throw new AppError("dialog-open", "The page asks a question and waits for an answer", {
        hint: "Answer it (dialog, accept true or false), in a script by a step {kind: dialog, accept}",
      })
    }
    await runStep(running, step)
  }
}

function countTurn(running: Running): void {
  running.turns += 1
  if (running.turns > maxTurns) throw new AppError("turn-limit", `A script has at most ${maxTurns} rounds and steps`)
}

async function runStep(running: Running, step: Step): Promise<void> {
  const { values, outcome } = running
  switch (step.kind) {
    case "act":
      await runAct(running, step)
      break
    case "navigate": {
      const { value, isForeign } = values.fill<Json>(step.url)
      note(running, await running.hands.navigate(textOf(value), isForeign))
      break
    }
    case "follow":
      note(running, await running.hands.follow(step.timeoutMs))
      break
    case "dialog": {
      const { value, isForeign } = values.fill<Json>(step.promptText ?? "")
      const promptText = step.promptText === undefined ? {} : { promptText: textOf(value) }
      running.dialog = false
      note(running, await running.hands.answer({ accept: step.accept, ...promptText }, isForeign))
      break
    }
    case "find":
      await locate(running, step.target, { acts: false, waitMs: step.timeoutMs })
      break
    case "read":
      await read(running, step)
      break
    case "set": {
      const { value, isForeign } = values.fill(step.to)
      if (step.add) values.add(step.as, [value], isForeign)
      else values.set(step.as, value, isForeign)
      break
    }
    case "if":
      return await runSteps(running, (await holds(running, step.when)) ? step.steps : step.otherwise)
    case "repeat":
      return await repeat(running, step)
    case "stop":
      throw new AppError("script-stopped", textOf(values.fill<Json>(step.because).value))
  }
  running.tried.add(step)
  outcome.done += 1
}

async function repeat(running: Running, step: Extract<Step, { kind: "repeat" }>): Promise<void> {
  const { values } = running
  const over = step.over === undefined ? undefined : values.fill(step.over)
  if (over && !Array.isArray(over.value)) throw new AppError("bad-request", "repeat: over is not a list")
  const items = over?.value as Json[] | undefined
  const outer = running.round
  const times = Math.min(step.times, items?.length ?? step.times)
  for (let round = 1; ; round += 1) {
    running.at = step
    countTurn(running)
    if (round > times) {
      // A loop that was to go on until something is so, and is not done: that is no success.
      const isOpen = items === undefined && (step.until !== undefined || step.while !== undefined)
      const isDone = step.until ? await holds(running, step.until) : step.while && !(await holds(running, step.while))
      if (isOpen && !isDone) throw new AppError("turn-limit", `repeat: not over after ${times} times`)
      break
    }
    if (step.while && !(await holds(running, step.while))) break
    running.round = round
    if (step.as !== undefined) values.set(step.as, items ? (items[round - 1] as Json) : round, over?.isForeign === true)
    await runSteps(running, step.steps)
    running.at = step
    if (step.until && (await holds(running, step.until))) break
  }
  running.round = outer
}

async function runAct(running: Running, step: Extract<Step, { kind: "act" }>): Promise<void> {
  const { values, hands } = running
  const { value: fields, isForeign } = values.fill(step.fields)
  for (let attempt = 1; ; attempt += 1) {
    const request = structuredClone(fields)
    for (const placed of step.targets) put(request, placed, await refFor(running, placed, step))
    try {
      const deed = await hands.act(request, isForeign)
      if (step.as !== undefined) values.set(step.as, (deed.result ?? null) as Json, true)
      return note(running, deed)
    } catch (error) {
      // Drawn anew between the look and the act: what was named by words is looked for once more.
      const isNamed = step.targets.some(({ target }) => "find" in target)
      if (!(error instanceof AppError) || error.code !== "stale-ref" || !isNamed || attempt > 1) throw error
    }
  }
}

function put(request: JsonObject, { name, field }: Placed, ref: string): void {
  if (field === undefined) request[name] = ref
  else ((request["fields"] as JsonObject[])[field] as JsonObject)["ref"] = ref
}

async function refFor(running: Running, placed: Placed, step: Extract<Step, { kind: "act" }>): Promise<string> {
  const { target } = placed
  if ("ref" in target) return await checkRef(running, placed, target)
  const waitMs = typeof step.fields["timeoutMs"] === "number" ? step.fields["timeoutMs"] : findMs
  return (await locate(running, target, { acts: true, waitMs })).ref as string
}

/** Throws for a ref that means nothing any more; what no snapshot shows of the page is left to the act itself. */
async function checkRef({ hands, records }: Running, placed: Placed, target: { ref: string }): Promise<string> {
  const { found } = await hands.look({ wanted: target, acts: true, waitMs: 0, locators: records })
  const locator = found[0]?.locator
  if (records && locator) keepWords(placed, locator)
  return target.ref
}

/** In the written script, words take the place of the ref: refs end with the page. */
function keepWords({ holder, name }: Pick<Placed, "holder" | "name">, locator: object): void {
  if (name !== "ref") {
    holder[name] = { ...locator }
    return
  }
  delete holder["ref"]
  Object.assign(holder, locator)
}

async function locate(
  running: Running,
  target: Target,
  { acts, waitMs }: { acts: boolean; waitMs: number },
): Promise<Found> {
  const { values, hands, limit, records } = running
  const wanted = filled(values, target)
  const { found, url } = await hands.look({ wanted, acts, waitMs, locators: records && "ref" in target })
  limit.throwIfAborted()
  visit(running, url)
  return oneOf(found, wanted)
}

function filled(values: Values, target: Target): Target {
  if ("ref" in target) return target
  const { value } = values.fill({ find: target.find, ...(target.in === undefined ? {} : { in: target.in }) })
  return {
    find: textOf(value["find"] as Json),
    ...(target.in === undefined ? {} : { in: textOf(value["in"] as Json) }),
    ...(target.nth === undefined ? {} : { nth: target.nth }),
  }
}

async function read(running: Running, step: Extract<Step, { kind: "read" }>): Promise<void> {
  const { values, hands, records } = running
  if (step.all) {
    const { found, url } = await hands.look({
      wanted: filled(values, step.target),
      acts: false,
      waitMs: findMs,
      locators: false,
    })
    visit(running, url)
    const words = found.map((each) => each.words)
    if (step.add) values.add(step.as, words, true)
    else values.set(step.as, words, true)
    return
  }
  const found = await locate(running, step.target, { acts: false, waitMs: "ref" in step.target ? 0 : findMs })
  if (records && found.locator) keepWords({ holder: step.holder, name: "ref" }, found.locator)
  if (step.add) values.add(step.as, [found.words], true)
  else values.set(step.as, found.words, true)
}

async function holds(running: Running, { all }: Condition): Promise<boolean> {
  for (const test of all) if (!(await isSo(running, test))) return false
  return true
}

async function isSo(running: Running, test: Test): Promise<boolean> {
  const { values, hands } = running
  switch (test.kind) {
    case "element": {
      const { found } = await hands.look({
        wanted: filled(values, test.target),
        acts: false,
        waitMs: 0,
        locators: false,
      })
      return found.some(({ disabled }) => !disabled)
    }
    case "text": {
      const find = textOf(values.fill<Json>(test.text).value)
      const wanted = { find: JSON.stringify(find) }
      return (await hands.look({ wanted, acts: false, waitMs: 0, locators: false })).found.length > 0
    }
    case "url": {
      const { url } = await hands.look({ wanted: undefined, acts: false, waitMs: 0, locators: false })
      return matchesUrl(textOf(values.fill<Json>(test.glob).value), url)
    }
    case "value":
      return compares(values.get(test.value).value, test.compare, values.fill(test.with).value)
    case "not":
      return !(await holds(running, test.condition))
    case "any":
      for (const condition of test.conditions) if (await holds(running, condition)) return true
      return false
  }
}

function compares(value: Json, compare: "is" | "has" | "below" | "above", other: Json): boolean {
  const words = textOf(value).trim().toLowerCase()
  if (compare === "has") return words.includes(textOf(other).trim().toLowerCase())
  const number = numberIn(Array.isArray(value) ? value.length : value)
  const than = numberIn(other)
  if (compare === "is")
    return words === textOf(other).trim().toLowerCase() || (typeof other === "number" && number === than)
  if (number === undefined || than === undefined) {
    throw new AppError(
      "bad-request",
      `${compare}: ${textOf(value).slice(0, 60)} or ${textOf(other).slice(0, 60)} is no number`,
    )
  }
  return compare === "below" ? number < than : number > than
}

function note(running: Running, deed: Deed): void {
  visit(running, deed.url)
  running.dialog = deed.dialog !== undefined
  if (deed.note !== undefined && running.outcome.notes.length < 5) running.outcome.notes.push(deed.note)
  if (deed.closed) throw new AppError("tab-not-found", "The page closed its own tab")
}

function visit({ outcome }: Running, url: string): void {
  outcome.urls.add(url)
}
