// Asking an owner, and being told the answer: a gated call -> a question with what its turn needs to go on -> a turn in
// the same session, with the standing that the asking one had, which may make exactly that call once.
import type { ApprovalAnswer, Approvals } from "../approvals/index.ts"
import type { Json } from "../kernel/index.ts"
import type { Session } from "../sessions/index.ts"
import type { ApprovalRow, JobRow, NewJob } from "../store/index.ts"
import type { PromptTrust } from "./taint.ts"
import type { GatedCall, Permission } from "./tool-runner.ts"
import { type TurnContext, type TurnInput, turnJob } from "./turn-input.ts"

export interface AskingTurn {
  job: Pick<JobRow, "run_id">
  session: Session
  input: TurnInput
  trust: PromptTrust
}

export interface AskOptions {
  approvals: Approvals
  timeText: (ms: number) => string
}

/** May this call be made? `step` is that of the model which made it: with some providers ids repeat between steps. */
export async function askOwner(
  { approvals, timeText }: AskOptions,
  { job, session, input, trust }: AskingTurn,
  { tool, callId, step, reason, summary, action, byPolicy, tainted, input: given }: GatedCall & { step: number },
): Promise<Permission> {
  // Of what an owner wants to be asked about, whoever it is for.
  if (!byPolicy && !mayAsk(input)) return { kind: "refused", text: `forbidden: ${reason}.` }
  if (JSON.stringify(action).length > maxShown) return { kind: "refused", text: `${reason}. ${tooLong}` }
  const answer = await approvals.request({
    runId: job.run_id,
    sessionKey: session.key,
    agentId: input.agentId,
    origin: trust.origin,
    tool,
    action,
    summary,
    callKey: `${job.run_id}:${step}:${callId}`,
    resume: {
      ...resumeOf(input, trust),
      ...(byPolicy ? { byPolicy, given } : {}),
      ...(tainted ? {} : { isOwn: true }),
    } as unknown as Json,
  })
  return answer.kind === "allowed" ? answer : { kind: "refused", text: `${reason}. ${describe(answer, timeText)}` }
}

/** Four messages of a chat: nobody reads more before he says yes, and what is hidden in the middle is not seen. */
const maxShown = 12_000
const tooLong =
  "Not done, and not asked: the call is too long for an owner to look through. Make it shorter, or several of it."

/** Strangers and other people of a group cannot set questions before an owner. */
function mayAsk({ trusted, origin }: TurnInput): boolean {
  return trusted || (origin !== "group-member" && origin !== "approved-sender")
}

function describe(answer: Exclude<ApprovalAnswer, { kind: "allowed" }>, timeText: (ms: number) => string): string {
  switch (answer.kind) {
    case "asked":
    case "waiting": {
      const isNowhere = answer.kind === "asked" && !answer.told
      const where = isNowhere ? "There is no chat to ask in, so the question stands in the list of approvals" : ""
      const asked = answer.kind === "asked" ? "Your owner has been asked" : "Your owner was asked about it already"
      return `Not done. ${isNowhere ? where : asked} (approval ${answer.id}, until ${timeText(answer.until)}). You will be told the answer in a turn of its own: do not wait and do not try again. Go on without it, or end by saying what you are waiting for.`
    }
    case "denied":
      return "Not done: your owner has denied exactly this. Do not try it again; say what could not be done."
    case "full":
      return "Not done, and not asked: too many questions are open. Say what you are waiting for."
  }
}

/** What the turn of the answer takes over; none of the words. */
function resumeOf(input: TurnInput, { trusted, withoutPast }: PromptTrust): Partial<TurnInput> {
  const { agentId, sessionKey, origin, askedBy, instructions, skills, tools, route, routeProblem } = input
  const { model, thinking, timeoutSeconds, historyTurns, hook, schedule } = input
  const { callback: _callback, ...told } = hook ?? {}
  const kept = {
    agentId,
    sessionKey,
    origin,
    trusted,
    askedBy,
    instructions,
    skills,
    tools,
    route,
    routeProblem,
    model,
    thinking,
    timeoutSeconds,
    schedule,
    historyTurns: withoutPast ? 0 : historyTurns,
    ...(hook ? { hook: told } : {}),
  }
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)) as Partial<TurnInput>
}

const told = {
  allowed:
    "Your owner has allowed the call below: once, exactly as it stands, until {until}. Make it now, with exactly these fields, and go on with what it was for.",
  denied: "Your owner has denied the call below. Do not try it again; say in one short message what was not done.",
  expired:
    "Nobody has answered the question about the call below in time, so it has expired and was not done. Say so in one short message.",
}

type Outcome = keyof typeof told

/** In place of the usual words, for a question that is about something else than a call. */
export interface AnswerWords {
  told: Readonly<Record<Outcome, string>>
  label: string
  text: string
}

type Resumed = Pick<TurnInput, "agentId" | "sessionKey" | "origin" | "trusted" | "route"> & {
  byPolicy?: true
  given?: Json
  /** The call was made of nobody else's words, so being shown it again taints nothing: the same would be asked again. */
  isOwn?: true
}

/** Whether it was asked because the owner wants to be, and not because of what the turn had read. */
export function isByPolicy({ resume }: Pick<ApprovalRow, "resume">): boolean {
  return (JSON.parse(resume) as Resumed).byPolicy === true
}

const anew =
  " Where a page was closed or loaded anew meanwhile, open it again and give the ref that the same element has now."

/** The turn that is told how a question ended. */
export function approvalTurn(
  runId: string,
  row: ApprovalRow,
  timeText: (ms: number) => string,
  wordsFor?: (outcome: Outcome) => AnswerWords,
): NewJob {
  const { byPolicy: _why, given, isOwn, ...kept } = JSON.parse(row.resume) as Resumed
  const outcome = row.state === "allowed" || row.state === "denied" ? row.state : "expired"
  const words = wordsFor?.(outcome)
  return turnJob(runId, {
    ...kept,
    // The session may have got another key since.
    sessionKey: row.session_key,
    purpose: "chat",
    header: `[approval ${row.id}: ${outcome}]`,
    text:
      (words?.told ?? told)[outcome].replace("{until}", timeText(row.expires_at)) +
      (outcome === "allowed" && given ? anew : ""),
    // Ours, whoever it was that had asked.
    wrap: false,
    // The model has written it, maybe from words of others.
    context: [
      words ?? {
        label: `The call of the tool ${row.tool}:`,
        text: given === undefined ? row.action : JSON.stringify(given),
      },
      ...(given === undefined ? [] : [{ label: "What it does, as your owner was asked:", text: row.action }]),
    ].map(({ label, text }): TurnContext => ({ label, text, ...(isOwn ? { isOwn } : {}) })),
  })
}
