// All API methods by their lower-case names: the platform ignores the case of method names.
import { accountMethods } from "./account.ts"
import { actionMethods } from "./actions.ts"
import { albumMethods } from "./album.ts"
import { chatMethods } from "./chats.ts"
import { commandMethods } from "./commands.ts"
import { deleteMethods } from "./delete.ts"
import { draftMethods } from "./drafts.ts"
import { editMethods } from "./edit.ts"
import { fileMethods } from "./files.ts"
import { mediaMethods } from "./send-media.ts"
import type { Method, MethodTable } from "./method.ts"
import { richMethods } from "./rich.ts"
import { textMethods } from "./send-text.ts"
import { topicMethods } from "./topics.ts"
import { updateMethods } from "./updates.ts"

export interface NamedMethod {
  name: string
  run: Method
}

export function allMethods(): Map<string, NamedMethod> {
  const tables: MethodTable[] = [
    accountMethods,
    actionMethods,
    albumMethods,
    chatMethods,
    commandMethods,
    deleteMethods,
    draftMethods,
    editMethods,
    fileMethods,
    mediaMethods,
    richMethods,
    textMethods,
    topicMethods,
    updateMethods,
  ]
  const entries = tables.flatMap((table) => Object.entries(table))
  return new Map(entries.map(([name, run]) => [name.toLowerCase(), { name, run }]))
}
