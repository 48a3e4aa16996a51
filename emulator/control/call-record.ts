// One call of the API that a bot made, as the log and the feed tell it.

export interface CallRecord {
  /** Counts up over all bots. */
  id: number
  botId: number
  /** The documented name, whatever case the bot used; the name as given when there is no such method. */
  method: string
  parameters: Record<string, unknown>
  files: { field: string; filename: string; contentType: string; size: number }[]
  via: "http" | "webhook"
  /** Port of the client's end: calls with the same one share a connection. */
  connection?: number | undefined
  /** Milliseconds since the epoch. */
  startedAt: number
  finishedAt?: number
  /** HTTP status; 0 when the connection ended without an answer. */
  status?: number
  ok?: boolean
  result?: unknown
  error?: string
  /** The kind of the injected fault that met this call. */
  fault?: string
}
