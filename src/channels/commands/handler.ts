// A command's job -> the command -> one transaction: what it changed, its answer, the end of the job. A crash before that
// lets it run again; one after it finds it done.
import type { Reply, ReplyButton } from "../../delivery/contract.ts"
import { AppError, type Log, describeError } from "../../kernel/index.ts"
import type { Route } from "../../sessions/route.ts"
import {
  type JobEnd,
  type JobHandler,
  type JobRow,
  type NewOutbox,
  type Write,
  markProvenance,
} from "../../store/index.ts"
import type { CommandAnswer, CommandCall, CommandServices } from "./contract.ts"
import { findCommand } from "./registry.ts"

export interface CommandHandlerOptions {
  services: CommandServices
  /** The rows of an answer; none when the channel is not there any more. */
  plan: (route: Route, reply: Reply) => NewOutbox[]
  canShowButtons: (route: Route) => boolean
  /** Something of a session has changed, in the transaction under way. */
  onChanged: () => void
  /** Takes secrets out of an answer, as the last thing before it is written. */
  redact: (text: string) => string
  log: Log
}

export function createCommandHandler(options: CommandHandlerOptions): JobHandler {
  return {
    async run(job) {
      const call = JSON.parse(job.payload) as CommandCall
      const answer = await perform(options, job, call)
      const { command, sessionKey: session, sender } = call
      options.log.info({ run: job.run_id, command, session, sender: sender.id }, "command done")
      return end(options, job, call, answer)
    },
    async onDead(job, error, write) {
      const call = JSON.parse(job.payload) as CommandCall
      options.log.error({ run: job.run_id, command: call.command, reason: error }, "command failed")
      say(options, write, job, call, { text: `Sorry, /${call.command} did not work. The log has the details.` })
    },
  }
}

async function perform(
  { services, log }: CommandHandlerOptions,
  job: JobRow,
  call: CommandCall,
): Promise<CommandAnswer> {
  try {
    const command = findCommand(call.command)
    // An older process may have taken in a command that this one does not have.
    if (!command) throw new AppError("not-found", `There is no command /${call.command}`)
    const isPrivate = call.route.chatKind === "private"
    if (command.where !== undefined && (command.where === "private") !== isPrivate) {
      return { text: `/${command.name} works only in ${command.where === "private" ? "private chats" : "groups"}.` }
    }
    return await command.run({ ...call, jobId: job.id, runId: job.run_id }, services)
  } catch (error) {
    if (!(error instanceof AppError) || error.code === "internal" || isOfStore(error)) throw error
    log.info({ run: job.run_id, command: call.command, reason: describeError(error) }, "command refused")
    return { text: error.hint === undefined ? error.message : `${error.message}\n${error.hint}` }
  }
}

/** Tried again; all else that is missing at the moment is told to whoever asked. */
function isOfStore({ code }: AppError): boolean {
  return code.startsWith("storage-")
}

function end(options: CommandHandlerOptions, job: JobRow, call: CommandCall, answer: CommandAnswer): JobEnd {
  return {
    state: "done",
    result: JSON.stringify({ command: call.command }),
    async commit(write) {
      if (answer.commit) {
        answer.commit(write)
        options.onChanged()
      }
      say(options, write, job, call, answer)
    },
  }
}

function say(
  { plan, redact, canShowButtons }: CommandHandlerOptions,
  write: Write,
  job: JobRow,
  { route, sender }: CommandCall,
  { text, buttons, media = [], isForeign }: CommandAnswer,
): void {
  const showsButtons = buttons !== undefined && canShowButtons(route)
  const reply: Reply = {
    text: redact(buttons && !showsButtons ? `${text}\n${listed(buttons)}` : text),
    media,
    ...(showsButtons ? { buttons } : {}),
    // In a group others write in between.
    ...(route.chatKind !== "private" && route.messageId !== undefined ? { replyTo: route.messageId } : {}),
  }
  // Our own words, and what the sender has written or is called: whoever answers them quotes nobody else.
  const whose = { origin: sender.origin, trusted: sender.isAuthorised }
  markProvenance(write, job.id, isForeign ? { origin: "model", trusted: false } : whose)
  for (const row of plan(route, reply)) write.addOutbox({ ...row, jobId: job.id })
}

/** Where no buttons may be, what they would do can be typed. */
function listed(buttons: readonly (readonly ReplyButton[])[]): string {
  return buttons
    .flat()
    .map(({ data }) => `\`${data}\``)
    .join("\n")
}
