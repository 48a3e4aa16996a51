// A mailbox with a history, as the Gmail API shows it.
import type { JsonObject } from "../../../src/kernel/index.ts"

export interface NewMail {
  from?: string
  subject?: string
  text?: string
  html?: string
  labelIds?: string[]
  /** Milliseconds since the epoch. */
  date?: number
}

interface Mail extends Required<Pick<NewMail, "from" | "subject" | "labelIds" | "date">> {
  id: string
  text: string | undefined
  html: string | undefined
}

export class MailStore {
  /** Numbers of 64 bits: they do not fit JavaScript's own. */
  #historyId = 9_007_199_254_740_993n
  #records: { id: bigint; entry: JsonObject; labelIds: string[] }[] = []
  #oldest = 0n
  readonly mails = new Map<string, Mail>()

  get historyId(): string {
    return String(this.#historyId)
  }

  add(mail: NewMail): string {
    const id = (0x18c0ffee0000 + this.mails.size).toString(16)
    const labelIds = mail.labelIds ?? ["INBOX", "UNREAD"]
    this.mails.set(id, {
      id,
      from: mail.from ?? "Ada <ada@example.com>",
      subject: mail.subject ?? `Mail ${this.mails.size + 1}`,
      text: mail.text,
      html: mail.html,
      labelIds,
      date: mail.date ?? Date.now(),
    })
    this.#record({ messagesAdded: [{ message: { id, threadId: id, labelIds } }] }, labelIds)
    return id
  }

  addLabel(id: string, labelId: string): void {
    const mail = this.mails.get(id)
    if (!mail) throw new Error(`no mail ${id}`)
    mail.labelIds = [...mail.labelIds, labelId]
    const message = { id, threadId: id, labelIds: mail.labelIds }
    this.#record({ labelsAdded: [{ message, labelIds: [labelId] }] }, [labelId])
  }

  /** What Gmail does after about a week. */
  forgetHistory(): void {
    this.#oldest = this.#historyId
    this.#records = []
  }

  /** Undefined when the start is no longer known. */
  historySince(query: URLSearchParams): JsonObject | undefined {
    const start = BigInt(query.get("startHistoryId") ?? "0")
    if (start < this.#oldest) return undefined
    const types = query.getAll("historyTypes")
    const label = query.get("labelId")
    const found = this.#records.filter(
      ({ entry, id, labelIds }) =>
        id > start &&
        (label === null || labelIds.includes(label)) &&
        types.some((type) => Object.hasOwn(entry, type === "messageAdded" ? "messagesAdded" : "labelsAdded")),
    )
    const from = Number(query.get("pageToken") ?? "0")
    // Small pages, so that a few mails already take several.
    const size = Math.min(3, Number(query.get("maxResults") ?? "100"))
    const page = found.slice(from, from + size).map(({ entry, id }) => ({ id: String(id), ...entry }))
    const next = from + size < found.length ? { nextPageToken: String(from + size) } : {}
    return { historyId: this.historyId, ...(page.length > 0 ? { history: page } : {}), ...next }
  }

  list(query: URLSearchParams): JsonObject {
    const after = Number(/after:(\d+)/.exec(query.get("q") ?? "")?.[1] ?? "0") * 1000
    const label = query.get("labelIds") ?? "INBOX"
    const found = [...this.mails.values()]
      .filter((mail) => mail.labelIds.includes(label) && mail.date >= after)
      .reverse()
      .slice(0, Number(query.get("maxResults") ?? "100"))
    return { messages: found.map(({ id }) => ({ id, threadId: id })), resultSizeEstimate: found.length }
  }

  /** Undefined when there is no such mail. */
  get(id: string, format: string): JsonObject | undefined {
    const mail = this.mails.get(id)
    if (!mail) return undefined
    const headers = [
      { name: "From", value: mail.from },
      { name: "Subject", value: mail.subject },
    ]
    const parts = [partOf("text/plain", mail.text), partOf("text/html", mail.html)].filter((part) => part !== undefined)
    return {
      id,
      threadId: id,
      labelIds: mail.labelIds,
      snippet: "It&#39;s &lt;short&gt;",
      internalDate: String(mail.date),
      historyId: this.historyId,
      payload: { mimeType: "multipart/alternative", headers, ...(format === "full" ? { parts } : {}) },
    }
  }

  #record(entry: JsonObject, labelIds: string[]): void {
    this.#historyId += 7n
    this.#records.push({ id: this.#historyId, entry, labelIds })
  }
}

function partOf(mimeType: string, text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined
  const headers = [{ name: "Content-Type", value: `${mimeType}; charset="UTF-8"` }]
  return { mimeType, filename: "", headers, body: { data: Buffer.from(text).toString("base64url") } }
}
