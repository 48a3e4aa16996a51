// A message from a terminal -> who is meant -> a turn or a command, in one durable entry. Whoever gets here holds the
// gateway's token: the words are the owner's.
import { realpathSync } from "node:fs"
import { sep } from "node:path"
import { type TurnInput, turnJob } from "../../agent/turn-input.ts"
import { AppError, type Ids, addressesIn, readInside, sitesIn } from "../../kernel/index.ts"
import { mainKey, normalizeAgentId } from "../../sessions/index.ts"
import type { IngestEntry, NewJob } from "../../store/index.ts"
import { planTyped } from "../commands/index.ts"
import { isPicture, sniff } from "../shared/media/sniff.ts"
import { type TerminalAccepted, type TerminalMessage, terminalChannel } from "./contract.ts"
import { terminalRoute } from "./sender.ts"

export interface IntakeOptions {
  ids: Ids
  /** Absolute. */
  mediaRoot: string
  defaultAgentId: () => string
  isAgent: (agentId: string) => boolean
  isModel: (name: string) => boolean
  maxPictureBytes: () => number
  /** The time of now, as the model is shown it. */
  now: () => { ms: number; text: string }
}

export interface Planned {
  entry: IngestEntry
  answer: TerminalAccepted
}

const asker = { id: terminalChannel, origin: "owner", isAuthorised: true } as const

/** Throws `bad-request` for what cannot be meant, `media-refused` for files that are no pictures. */
export function planTerminalMessage(options: IntakeOptions, wanted: TerminalMessage): Planned {
  const place = placeOf(options, wanted)
  const jobs = jobsOf(options, wanted, place)
  const runId = jobs.at(-1)?.runId ?? ""
  const answer = { runId, session: place.sessionKey }
  const entry: IngestEntry = {
    source: terminalChannel,
    account: "default",
    deliveryId: wanted.id,
    payload: null,
    answer,
    jobs,
  }
  return { entry, answer }
}

interface Place {
  agentId: string
  sessionKey: string
}

function placeOf(options: IntakeOptions, { session, agent }: TerminalMessage): Place {
  const named = /^agent:([^:]+):(.+)$/.exec(session?.trim().toLowerCase() ?? "")
  const agentId = normalizeAgentId(agent ?? named?.[1] ?? options.defaultAgentId())
  if (!options.isAgent(agentId)) {
    throw new AppError("bad-request", `There is no agent named ${JSON.stringify(agentId)}`, {
      hint: "Agents stand in the configuration: svc config get agents.list",
    })
  }
  if (named) {
    if (named[1] !== agentId)
      throw new AppError("bad-request", "The session belongs to another agent than --agent names")
    return { agentId, sessionKey: ownSession(agentId, named[2] as string) }
  }
  const name = session?.trim().toLowerCase() ?? "main"
  if (name === "main") return { agentId, sessionKey: mainKey(agentId) }
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/.test(name)) {
    throw new AppError("bad-request", `${JSON.stringify(session)} is no name of a session`, {
      hint: "Take letters, digits and . _ - such as notes, or a whole key as in: svc sessions list",
    })
  }
  return { agentId, sessionKey: `agent:${agentId}:${terminalChannel}:${name}` }
}

/** The conversations of guests and of webhooks hold nobody's words but theirs. */
function ownSession(agentId: string, rest: string): string {
  if (!/^hook:|(?:^|:)guest:/.test(rest)) return `agent:${agentId}:${rest}`
  throw new AppError("bad-request", "This session belongs to a guest or to a webhook, and takes no words of others", {
    hint: "Look at it with: svc sessions show <key>",
  })
}

function jobsOf(options: IntakeOptions, wanted: TerminalMessage, place: Place): NewJob[] {
  const { ids, isModel } = options
  const { message, context, pictures = [] } = wanted
  const media = pictures.map((path) => pictureAt(options, path))
  const turn = (text: string) => turnJob(ids.uuid(), turnInput(options, place, { text, context, media }))
  if (media.length > 0) return [turn(message)]
  const call = { ...place, route: terminalRoute(place.sessionKey), sender: asker }
  const { jobs, rest } = planTyped(message, { ids, isModel, call })
  return rest === undefined ? jobs : [...jobs, turn(rest)]
}

type Media = NonNullable<TurnInput["media"]>

function turnInput(
  { now }: IntakeOptions,
  place: Place,
  { text, context, media }: { text: string; context: string | undefined; media: Media },
): TurnInput {
  const sites = [...sitesIn(text), ...addressesIn(text)]
  const { ms, text: time } = now()
  return {
    ...place,
    purpose: "chat",
    origin: "owner",
    trusted: true,
    header: `[terminal of this machine, from the owner, ${time}]`,
    text,
    ...(context === undefined ? {} : { context: [{ label: "[What the message is about:]", text: context }] }),
    ...(sites.length === 0 ? {} : { sites }),
    ...(media.length === 0 ? {} : { media }),
    sentAt: ms,
    route: terminalRoute(place.sessionKey),
  }
}

function pictureAt({ mediaRoot, maxPictureBytes }: IntakeOptions, path: string): Media[number] {
  const refuse = (reason: string) =>
    new AppError("media-refused", `${path} ${reason}`, { hint: "The agent takes JPEG, PNG, GIF and WebP pictures" })
  const root = realRoot(mediaRoot)
  const below = [mediaRoot, root].find((folder) => path.startsWith(folder + sep))
  if (below === undefined) throw refuse("is not in the media folder")
  const file = readInside(root, path.slice(below.length + 1), maxPictureBytes())
  if (file.kind === "none") throw refuse("does not exist")
  if (file.kind === "refused") throw refuse(file.reason)
  const { mediaType } = sniff(file.data, undefined)
  if (!isPicture(mediaType)) throw refuse("is no picture that models take")
  return { path: file.path, mediaType }
}

function realRoot(folder: string): string {
  try {
    return realpathSync(folder)
  } catch (error) {
    // Nothing was ever put into it.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return folder
    throw error
  }
}
