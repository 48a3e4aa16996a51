// A session that a person wants gone: from the moment on at which that is written nothing shows it any more; its messages
// follow in stretches, here and, after a crash, with the store's own clean-up. What it has cost stays in the ledger.
import { AppError } from "../../kernel/index.ts"
import { type Store, openJobs, removeDeletedConversations } from "../../store/index.ts"
import { noSession } from "./read.ts"

/** Work of one transaction, and rows of one statement: a message may have pictures, and each has its words in indexes. */
const stretchMs = 4
const batchRows = 8

/** Says how many conversations went. Throws `conflict` while a turn of it runs or waits. */
export async function deleteSession(store: Store, key: string): Promise<{ conversations: number }> {
  const { conversations } = await store.write(async (write) => {
    if (openJobs(store, key).length > 0) {
      throw new AppError("conflict", "A turn of this session runs or waits", {
        hint: "Stop it with /stop in its chat, or wait, and try again",
      })
    }
    const marked = write
      .prepare("update conversation set deleted_at = ? where key = ? and deleted_at is null")
      .run(write.now, key)
    if (Number(marked.changes) === 0) throw noSession(key)
    write.prepare("delete from event where session_key = ? and consumed_by is null").run(key)
    write.prepare("delete from queue_drop where lane_key = ?").run(key)
    write.prepare("delete from session where key = ?").run(key)
    return { conversations: Number(marked.changes) }
  })
  while ((await store.write(async () => removeSome(store))) > 0);
  return { conversations }
}

function removeSome({ handle }: Store): number {
  const until = performance.now() + stretchMs
  let removed
  do removed = removeDeletedConversations(handle, batchRows)
  while (removed > 0 && performance.now() < until)
  return removed
}
