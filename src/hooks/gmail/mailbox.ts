// The Gmail API as the watch needs it: profile, watch, labels, history and messages of one account.
import { AppError } from "../../kernel/index.ts"
import type { AccountTokens } from "./account-tokens.ts"
import type { GmailMessage, GoogleRoots } from "./contract.ts"
import { type GoogleCaller, GoogleError } from "./google-call.ts"
import { type MimePart, decodeEntities, headerOf, mailText } from "./mail-text.ts"

export interface Mailbox {
  profile(signal?: AbortSignal): Promise<{ emailAddress: string; historyId: string }>
  watch(options: { topic: string; labelId: string }, signal?: AbortSignal): Promise<WatchAnswer>
  stopWatch(signal?: AbortSignal): Promise<void>
  /** Name or id to id. */
  labelId(label: string, signal?: AbortSignal): Promise<string>
  /** Mails that came under the label since then. `too-old` when Google no longer knows. */
  historySince(options: { historyId: string; labelId: string }, signal?: AbortSignal): Promise<HistoryAnswer>
  /** The newest mails of the label since then, oldest first. */
  newest(options: { labelId: string; sinceMs: number; limit: number }, signal?: AbortSignal): Promise<string[]>
  /** Undefined when the mail is gone. */
  message(id: string, options: MessageOptions, signal?: AbortSignal): Promise<GmailMessage | undefined>
}

export interface WatchAnswer {
  historyId: string
  /** Milliseconds since the epoch. */
  expiresAt: number
}

/** When `more` there was more than one reading takes; the next one goes on at `historyId`. */
export type HistoryAnswer =
  | { kind: "found"; messageIds: string[]; historyId: string; more: boolean }
  | { kind: "too-old" }

export interface MessageOptions {
  includeBody: boolean
  maxBytes: number
}

interface HistoryRecord {
  id: string
  messagesAdded?: { message: ListedMessage }[]
  labelsAdded?: { message: ListedMessage; labelIds?: string[] }[]
}

interface ListedMessage {
  id: string
  labelIds?: string[]
}

interface FullMessage extends ListedMessage {
  threadId?: string
  snippet?: string
  internalDate?: string
  payload?: MimePart
}

/** The largest page that Gmail gives. */
const pageSize = 500
const maxPages = 10
/** Not yet sent, or thrown away before we looked. */
const ignoredLabels = new Set(["DRAFT", "SPAM", "TRASH"])

export function createMailbox(options: { caller: GoogleCaller; tokens: AccountTokens; roots: GoogleRoots }): Mailbox {
  const call = <Answer>(
    method: "GET" | "POST",
    path: string,
    more: { query?: Record<string, string | string[]>; body?: object; signal?: AbortSignal | undefined },
  ) => {
    const url = new URL(`/gmail/v1/users/me${path}`, options.roots.gmail)
    for (const [name, values] of Object.entries(more.query ?? {})) {
      for (const value of [values].flat()) url.searchParams.append(name, value)
    }
    return options.tokens.withToken(
      (accessToken) =>
        options.caller.call<Answer>({ method, url: url.href, body: more.body, accessToken, signal: more.signal }),
      more.signal,
    )
  }
  return {
    profile: (signal) => call("GET", "/profile", { signal }),
    async watch({ topic, labelId }, signal) {
      const body = { topicName: topic, labelIds: [labelId], labelFilterBehavior: "INCLUDE" }
      const answer = await call<{ historyId: string; expiration: string }>("POST", "/watch", { body, signal })
      return { historyId: String(answer.historyId), expiresAt: Number(answer.expiration) }
    },
    async stopWatch(signal) {
      await call("POST", "/stop", { signal })
    },
    labelId: (label, signal) => findLabel(label, () => call("GET", "/labels", { signal })),
    historySince: ({ historyId, labelId }, signal) =>
      readHistory(historyId, labelId, (query) => call<HistoryPage>("GET", "/history", { query, signal })),
    async newest({ labelId, sinceMs, limit }, signal) {
      const query = { labelIds: labelId, maxResults: String(limit), q: `after:${Math.floor(sinceMs / 1000)}` }
      const answer = await call<{ messages?: ListedMessage[] }>("GET", "/messages", { query, signal })
      return (answer.messages ?? []).map(({ id }) => id).reverse()
    },
    message: (id, wanted, signal) =>
      readMessage(wanted, (query) =>
        call<FullMessage>("GET", `/messages/${encodeURIComponent(id)}`, { query, signal }),
      ),
  }
}

/** Gmail's own labels have their name as id. */
const systemLabel = /^(?:INBOX|SENT|IMPORTANT|STARRED|UNREAD|CHAT|CATEGORY_[A-Z]+)$/

async function findLabel(
  label: string,
  list: () => Promise<{ labels?: { id: string; name: string }[] }>,
): Promise<string> {
  if (systemLabel.test(label)) return label
  const { labels = [] } = await list()
  const found =
    labels.find(({ id }) => id === label) ??
    labels.find(({ name }) => name === label) ??
    labels.find(({ name }) => name.toLowerCase() === label.toLowerCase())
  if (found) return found.id
  throw new AppError("not-found", `The mailbox has no label ${JSON.stringify(label)}`, {
    hint: "Make the label in Gmail, or set hooks.gmail.label to one that exists",
  })
}

interface HistoryPage {
  history?: HistoryRecord[]
  nextPageToken?: string
  historyId: string
}

async function readHistory(
  start: string,
  labelId: string,
  readPage: (query: Record<string, string | string[]>) => Promise<HistoryPage>,
): Promise<HistoryAnswer> {
  const found = new Set<string>()
  // Un-archiving puts old mail into the inbox, which is no news; sorting a mail under a label of one's own is.
  const historyTypes = labelId === "INBOX" ? ["messageAdded"] : ["messageAdded", "labelAdded"]
  let query: Record<string, string | string[]> = {
    startHistoryId: start,
    labelId,
    historyTypes,
    maxResults: String(pageSize),
  }
  for (let page = 1; ; page += 1) {
    let answer: HistoryPage
    try {
      answer = await readPage(query)
    } catch (error) {
      if (error instanceof GoogleError && error.status === 404) return { kind: "too-old" }
      throw error
    }
    for (const record of answer.history ?? []) addFound(found, record, labelId)
    const end = answer.history?.at(-1)?.id
    if (answer.nextPageToken === undefined || page === maxPages) {
      const more = answer.nextPageToken !== undefined
      return { kind: "found", messageIds: [...found], historyId: String((more && end) || answer.historyId), more }
    }
    query = { ...query, pageToken: answer.nextPageToken }
  }
}

function addFound(found: Set<string>, record: HistoryRecord, labelId: string): void {
  const added = (record.messagesAdded ?? []).filter(({ message }) => message.labelIds?.includes(labelId) ?? true)
  const labelled = (record.labelsAdded ?? []).filter(({ labelIds }) => labelIds?.includes(labelId))
  for (const { message } of [...added, ...labelled]) {
    if (!message.labelIds?.some((label) => ignoredLabels.has(label))) found.add(message.id)
  }
}

const shownHeaders = ["From", "Subject"]

async function readMessage(
  { includeBody, maxBytes }: MessageOptions,
  read: (query: Record<string, string | string[]>) => Promise<FullMessage>,
): Promise<GmailMessage | undefined> {
  const withoutBody = { format: "metadata", metadataHeaders: shownHeaders }
  try {
    return toMessage(await read(includeBody ? { format: "full" } : withoutBody), includeBody ? maxBytes : 0)
  } catch (error) {
    if (error instanceof GoogleError && error.status === 404) return undefined
    // A mail that is too large to read still is a mail: its head and Gmail's own excerpt are handed on.
    if (!(error instanceof AppError) || error.code !== "payload-too-large" || !includeBody) throw error
    return toMessage(await read(withoutBody), 0)
  }
}

function toMessage(message: FullMessage, maxBytes: number): GmailMessage {
  const time = Number(message.internalDate ?? Number.NaN)
  return {
    id: message.id,
    threadId: message.threadId ?? message.id,
    from: headerOf(message.payload, "from"),
    subject: headerOf(message.payload, "subject"),
    snippet: decodeEntities(message.snippet ?? ""),
    body: maxBytes > 0 ? mailText(message.payload, maxBytes) : "",
    date: Number.isFinite(time) ? new Date(time).toISOString() : "",
    labels: message.labelIds ?? [],
  }
}
