// What the mail watch keeps in the state folder, and who writes it:
//   credentials/gmail.json  sign-in of the account            set-up, and the watch when Google gives a new token
//   gmail/push.json         how pushes prove where they are from                          set-up
//   gmail/watch.json        how far the mailbox was read, and what is still to be handed on   the watch
//   gmail/stopped           present after `stop`                                         the command line
import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { writePrivateFile } from "../../kernel/index.ts"
import { readPrivateJson, writePrivateJson } from "./private-file.ts"

const credentialsSchema = z.object({
  account: z.string(),
  clientId: z.string(),
  clientSecret: z.string().optional(),
  refreshToken: z.string(),
  accessToken: z.string().optional(),
  /** Milliseconds since the epoch. */
  expiresAt: z.number().optional(),
})

const pushSchema = z.object({
  /** Address that pushes are sent to, without the token. */
  endpoint: z.string(),
  audience: z.string(),
  serviceAccount: z.string(),
  keySetUrl: z.string().optional(),
})

const watchSchema = z.object({
  account: z.string(),
  label: z.string(),
  /** Up to here the mailbox was read. Numbers of 64 bits, so text. */
  historyId: z.string().optional(),
  /** The newest that a push has told of; written before the push is acknowledged. */
  pushedHistoryId: z.string().optional(),
  /** Mails found and not yet handed on, oldest first. */
  waiting: z.array(z.string()).default([]),
  /** Mails handed on last, so that none is handed on twice when it shows up again. */
  recent: z.array(z.string()).default([]),
  delivered: z.number().default(0),
  watchExpiresAt: z.number().optional(),
  renewedAt: z.number().optional(),
  lastSyncAt: z.number().optional(),
})

export type GmailCredentials = z.infer<typeof credentialsSchema>
export type PushSettings = z.infer<typeof pushSchema>
export type WatchRecord = z.infer<typeof watchSchema>

export interface GmailFiles {
  credentials: {
    read(): GmailCredentials | undefined
    write(value: GmailCredentials): void
    remove(): void
  }
  push: { read(): PushSettings | undefined; write(value: PushSettings): void; remove(): void }
  watch: { read(): WatchRecord | undefined; write(value: WatchRecord): void; remove(): void }
  isStopped(): boolean
  setStopped(stopped: boolean): void
}

export function gmailFiles(stateFolder: string): GmailFiles {
  const stopped = join(stateFolder, "gmail", "stopped")
  return {
    credentials: fileOf(join(stateFolder, "credentials", "gmail.json"), credentialsSchema),
    push: fileOf(join(stateFolder, "gmail", "push.json"), pushSchema),
    watch: fileOf(join(stateFolder, "gmail", "watch.json"), watchSchema),
    isStopped: () => existsSync(stopped),
    setStopped(wanted) {
      if (!wanted) return rmSync(stopped, { force: true })
      writePrivateFile(stopped, "")
    },
  }
}

function fileOf<Schema extends z.ZodType>(path: string, schema: Schema) {
  return {
    read: () => readPrivateJson(path, schema),
    write: (value: z.infer<Schema>) => writePrivateJson(path, value),
    remove: () => rmSync(path, { force: true }),
  }
}
