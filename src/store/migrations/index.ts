// Every migration, in order. A landed one is never edited: a change is a new file.
import type { Migration } from "kysely/migration"
import * as first from "./0001-first.ts"
import * as hooks from "./0002-hooks.ts"
import * as chat from "./0003-chat.ts"
import * as join from "./0004-join.ts"
import * as accounts from "./0005-accounts.ts"
import * as stickers from "./0006-stickers.ts"
import * as groups from "./0007-groups.ts"
import * as references from "./0008-references.ts"
import * as commands from "./0009-commands.ts"
import * as usage from "./0010-usage.ts"
import * as segments from "./0011-segments.ts"
import * as pruning from "./0012-pruning.ts"
import * as work from "./0014-work.ts"
import * as unreadable from "./0015-unreadable-updates.ts"
import * as approvals from "./0016-approvals.ts"
import * as provenance from "./0017-provenance.ts"
import * as strangers from "./0018-strangers.ts"
import * as access from "./0020-access.ts"
import * as firstWords from "./0022-first-words.ts"
import * as queue from "./0025-queue.ts"
import * as conversations from "./0026-conversations.ts"
import * as budget from "./0029-budget.ts"
import * as memory from "./0028-memory.ts"
import * as nodes from "./0027-nodes.ts"
import * as pageSessions from "./0030-page-sessions.ts"
import * as webChat from "./0031-web-chat.ts"
import * as hands from "./0034-hands.ts"
import * as schedules from "./0033-schedules.ts"
import * as mcp from "./0035-mcp.ts"
import * as conversationSizes from "./0037-conversation-sizes.ts"
import * as waitingSenders from "./0038-waiting-senders.ts"
import * as indexMerges from "./0039-index-merges.ts"
import * as longMessages from "./0040-long-messages.ts"

export const migrations: Record<string, Migration> = {
  "0001-first": first,
  "0002-hooks": hooks,
  "0003-chat": chat,
  "0004-join": join,
  "0005-accounts": accounts,
  "0006-stickers": stickers,
  "0007-groups": groups,
  "0008-references": references,
  "0009-commands": commands,
  "0010-usage": usage,
  "0011-segments": segments,
  "0012-pruning": pruning,
  "0014-work": work,
  "0015-unreadable-updates": unreadable,
  "0016-approvals": approvals,
  "0017-provenance": provenance,
  "0018-strangers": strangers,
  "0020-access": access,
  "0022-first-words": firstWords,
  "0025-queue": queue,
  "0026-conversations": conversations,
  "0029-budget": budget,
  "0028-memory": memory,
  "0027-nodes": nodes,
  "0030-page-sessions": pageSessions,
  "0031-web-chat": webChat,
  "0034-hands": hands,
  "0033-schedules": schedules,
  "0035-mcp": mcp,
  "0037-conversation-sizes": conversationSizes,
  "0038-waiting-senders": waitingSenders,
  "0039-index-merges": indexMerges,
  "0040-long-messages": longMessages,
}

/**
 * Migrations expand first and contract later: a program that knows this one can use a store that has been through all of
 * them, because those behind it only add what it may leave out (expand.test.ts holds them to that). A migration that takes
 * away, renames, or wants something of every new row names itself here, and goes out one release after the last program
 * that needs the old form.
 */
export const readableFrom = "0026-conversations"
