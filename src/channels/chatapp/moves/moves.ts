// Groups that became supergroups: the platform tells it by a message in the old chat and one in the new, and by
// refusing what is sent to the old. What is kept under the old id moves in the transaction that takes the message in;
// the configuration's group entry follows after the commit, and again after a restart until it is done. Until then the
// new chat is answered as the old entry says. Bindings stay as they are, and go on to mean the chat.
import { type Config, type ConfigPath, type WriteResult, formatConfigPath, formatIssue } from "../../../config/index.ts"
import type { Background, Log } from "../../../kernel/index.ts"
import type { Store, Write } from "../../../store/index.ts"
import type { GroupBook } from "../../access.ts"
import type { AccountSettings } from "../settings.ts"
import { groupEntries, hasGroup, isBound } from "./config-keys.ts"
import { type ChatMove, allMoves, isKnownMove, markConfigDone, moveChat, openMoves, recordMove } from "./store.ts"

/** Writes the configuration file, and makes the running gateway use it. */
export type RenameConfig = (entries: readonly { key: ConfigPath; to: string }[]) => WriteResult

export interface ChatMovesOptions {
  store: Store
  config: () => Config
  renameConfig: RenameConfig
  background: Background
  /** Settings of sessions may have another key now. */
  onMoved: () => void
  log: Log
}

export class ChatMoves {
  readonly #options: ChatMovesOptions
  /** Old id by new id, where the configuration has not followed yet. */
  #open = new Map<string, string>()
  /** The same of all moves: the file says `bindings` by the old ids for as long as nobody changes it. */
  #moved = new Map<string, string>()
  #followed: { source: AccountSettings; result: AccountSettings } | undefined

  constructor(options: ChatMovesOptions) {
    this.#options = options
    this.reload()
  }

  /** The settings with which a batch is planned: a chat that just moved still has its old entry. */
  follow(settings: AccountSettings): AccountSettings {
    if (this.#followed?.source !== settings) {
      const groupBook: GroupBook = { of: (chatId) => this.#find(settings.groupBook, chatId) }
      const boundAgent: AccountSettings["boundAgent"] = (place) =>
        settings.boundAgent({ ...place, chatId: this.#boundId(place.chatId) })
      this.#followed = { source: settings, result: { ...settings, groupBook, boundAgent } }
    }
    return this.#followed.result
  }

  /** While planning: messages of the new chat may come in the same batch. */
  see(move: ChatMove): void {
    if (isKnownMove(this.#options.store, move)) return
    this.#moved.set(move.newId, move.oldId)
    if (this.#mayWrite(move)) this.#open.set(move.newId, move.oldId)
  }

  /** In the transaction that takes the move in. */
  apply(write: Write, move: ChatMove, account: string): void {
    moveChat(write, move)
    const isNew = recordMove(write, move, account, !this.#mayWrite(move))
    if (isNew) this.#options.log.info({ chat: move.oldId, to: move.newId }, "group moved to another chat id")
  }

  /** After that commit, and at the start. */
  settle(): void {
    this.#options.onMoved()
    // Another account's failed transaction may have taken back what was seen of it meanwhile.
    this.reload()
    if (this.#open.size === 0) return
    this.#options.background.run("configuration of moved groups", () => this.#moveConfig())
  }

  /** The transaction has failed. */
  reload(): void {
    const byNewId = (moves: readonly ChatMove[]) => new Map(moves.map(({ oldId, newId }) => [newId, oldId]))
    this.#open = byNewId(openMoves(this.#options.store))
    this.#moved = byNewId(allMoves(this.#options.store))
  }

  /** The platform has refused a message for the old id: nobody has told us by a message yet. */
  async learn(move: ChatMove, account: string): Promise<void> {
    if (isKnownMove(this.#options.store, move)) return
    this.see(move)
    try {
      await this.#options.store.write(async (write) => this.apply(write, move, account))
    } catch (error) {
      this.reload()
      throw error
    }
    this.settle()
  }

  #find(book: GroupBook, chatId: string) {
    const group = book.of(chatId)
    const oldId = this.#open.get(chatId)
    if (oldId === undefined || group?.listed === "own") return group
    return book.of(oldId)
  }

  /** The id by which a binding means this chat. */
  #boundId(chatId: string): string {
    const oldId = this.#moved.get(chatId)
    return oldId !== undefined && !isBound(this.#options.config(), chatId) ? oldId : chatId
  }

  #mayWrite({ oldId }: ChatMove): boolean {
    return groupEntries(this.#options.config(), oldId).some(({ mayWrite }) => mayWrite)
  }

  async #moveConfig(): Promise<void> {
    for (const [newId, oldId] of this.#open) {
      if (!this.#renameEntry({ oldId, newId })) continue
      await this.#options.store.write(async (write) => markConfigDone(write, oldId))
      this.#open.delete(newId)
      this.#options.log.info({ chat: oldId, to: newId }, "moved group: settled in the configuration")
    }
  }

  /** False: it has to be tried again. */
  #renameEntry(move: ChatMove): boolean {
    const { config, log, renameConfig } = this.#options
    const entries = groupEntries(config(), move.oldId)
    const writable = entries.filter(({ mayWrite }) => mayWrite)
    const facts = { chat: move.oldId, to: move.newId, keys: entries.map(({ key }) => formatConfigPath(key)) }
    if (writable.length < entries.length) {
      log.warn(
        { ...facts, hint: "Rename the key in the file" },
        "moved group: configWrites is off, entry left as it is",
      )
    }
    if (writable.length === 0) return true
    if (hasGroup(config(), move.newId))
      log.warn(facts, "moved group: the new id has an entry already, it stays as it is")
    const result = renameConfig(writable.map(({ key }) => ({ key, to: move.newId })))
    if (result.kind === "ok") return true
    const hint = "Correct the file; it is tried again at the next start"
    log.error(
      { ...facts, issues: result.issues.map(formatIssue), hint },
      "moved group: configuration could not be changed",
    )
    return false
  }
}
