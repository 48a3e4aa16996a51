// The SQL of chats that moved: everything that a chat's old id stands in, in one transaction. What was sent and done
// stays under the old id: the platform gives the new chat's messages new numbers.
import { type Json, type JsonObject, isJsonObject } from "../../../kernel/index.ts"
import { moveSession } from "../../../sessions/index.ts"
import { type JobChange, type Store, type Write, moveJobs, moveOutbox } from "../../../store/index.ts"
import { decorationLane, isDecorationLane } from "../outbound/decoration.ts"
import { channelName } from "../settings.ts"

export interface ChatMove {
  oldId: string
  newId: string
}

/** False when the move is known already. `configDone`: nothing is left to do in the configuration. */
export function recordMove(write: Write, move: ChatMove, account: string, configDone: boolean): boolean {
  const { changes } = write
    .prepare(
      `insert into chat_move (channel, old_id, new_id, account, seen_at, config_done) values (?, ?, ?, ?, ?, ?)
       on conflict do nothing`,
    )
    .run(channelName, move.oldId, move.newId, account, write.now, configDone ? 1 : 0)
  return Number(changes) > 0
}

export function markConfigDone(write: Write, oldId: string): void {
  write.prepare("update chat_move set config_done = 1 where channel = ? and old_id = ?").run(channelName, oldId)
}

/** Moves whose configuration still has to follow. */
export function openMoves(store: Store): ChatMove[] {
  return store.handle
    .prepare("select old_id as oldId, new_id as newId from chat_move where channel = ? and config_done = 0")
    .all(channelName) as unknown as ChatMove[]
}

export function allMoves(store: Store): ChatMove[] {
  return store.handle
    .prepare("select old_id as oldId, new_id as newId from chat_move where channel = ?")
    .all(channelName) as unknown as ChatMove[]
}

export function isKnownMove(store: Store, { oldId }: ChatMove): boolean {
  const row = store.handle.prepare("select 1 from chat_move where channel = ? and old_id = ?").get(channelName, oldId)
  return row !== undefined
}

/** Done again it changes nothing, or takes along what came under the old id meanwhile. */
export function moveChat(write: Write, move: ChatMove): void {
  moveHistory(write, move)
  write
    .prepare("update or replace chat_membership set chat_id = ? where channel = ? and chat_id = ?")
    .run(move.newId, channelName, move.oldId)
  const [oldSender, newSender] = [JSON.stringify(move.oldId), JSON.stringify(move.newId)]
  for (const { from, to } of sessionsOf(write, move)) {
    moveSession(write, from, to)
    write
      .prepare("update queue_drop set lane_key = ?, sender = replace(sender, ?, ?) where lane_key = ?")
      .run(to, oldSender, newSender, from)
    const change: JobChange = {
      payload: (payload) => readdress(payload, move, { from, to }),
      sender: (sender) => sender.replaceAll(oldSender, newSender),
    }
    moveJobs(write, from, to, change)
    // Commands that overtake the session wait beside it.
    moveJobs(write, `control:${from}`, `control:${to}`, change)
    write.prepare("update event set session_key = ? where session_key = ? and consumed_by is null").run(to, from)
  }
  moveLastRoutes(write, move)
  moveMessages(write, move)
}

/** Its messages come before every message of the new chat. */
function moveHistory(write: Write, { oldId, newId }: ChatMove): void {
  write
    .prepare(
      `update group_history set chat_id = ?2, message_id = -message_id,
         session_key = replace(session_key, ':group:' || ?1, ':group:' || ?2)
       where chat_id = ?1`,
    )
    .run(oldId, newId)
}

/** Of every agent, the topics too. A running turn's lane may be older than its session's row, so lanes count as well. */
function sessionsOf(write: Write, { oldId, newId }: ChatMove): { from: string; to: string }[] {
  const part = `:${channelName}:group:${oldId}`
  const rows = write
    .prepare(
      `select key from session where instr(key, ?1) > 0
       union select lane_key as key from job where state in ('ready', 'running') and instr(lane_key, ?1) > 0
       union select session_key as key from event where consumed_by is null and instr(session_key, ?1) > 0`,
    )
    .all(part) as { key: string }[]
  return rows.flatMap(({ key }) => {
    const rest = key.slice(key.indexOf(part) + part.length)
    if (!/^agent:[^:]+$/.test(key.slice(0, key.indexOf(part))) || !/^(:topic:\d+)?$/.test(rest)) return []
    return [{ from: key, to: key.replace(part, `:${channelName}:group:${newId}`) }]
  })
}

function moveLastRoutes(write: Write, move: ChatMove): void {
  const rows = write
    .prepare("select key, last_route from session where last_route is not null and instr(last_route, ?) > 0")
    .all(JSON.stringify(move.oldId)) as { key: string; last_route: string }[]
  for (const { key, last_route: route } of rows) {
    const moved = JSON.stringify(moveRoute(JSON.parse(route) as Json, move))
    write.prepare("update session set last_route = ? where key = ?").run(moved, key)
  }
}

function moveMessages(write: Write, move: ChatMove): void {
  const lanes = write
    .prepare(
      "select distinct lane_key, account from outbox where state in ('new', 'sending') and channel = ? and chat_id = ?",
    )
    .all(channelName, move.oldId) as { lane_key: string; account: string }[]
  for (const { lane_key: lane, account } of lanes) {
    const address = `${channelName}:${account}:${move.newId}`
    moveOutbox(write, lane, isDecorationLane(lane) ? decorationLane(address) : address, (row) => ({
      chatId: move.newId,
      route: moveRoute(JSON.parse(row.route) as Json, move),
      payload: withoutReference(JSON.parse(row.payload) as Json),
    }))
  }
}

/** Sessions and routes in the payload of a job, or in the prompt that it has kept. */
function readdress(value: Json, move: ChatMove, session: { from: string; to: string }): Json {
  if (!isJsonObject(value)) return value
  const moved: JsonObject = { ...value }
  if (value["sessionKey"] === session.from) moved["sessionKey"] = session.to
  if (isJsonObject(value["route"])) moved["route"] = moveRoute(value["route"], move)
  for (const inner of ["input", "call"]) {
    if (isJsonObject(value[inner])) moved[inner] = readdress(value[inner], move, session)
  }
  return moved
}

/** A message of the old chat has another number in the new one, or none: nothing may refer to it. */
function moveRoute(route: Json, { oldId, newId }: ChatMove): Json {
  if (!isJsonObject(route) || route["channel"] !== channelName || route["chatId"] !== oldId) return route
  const { messageId: _old, ...rest } = route
  return { ...rest, chatId: newId, chatKind: "supergroup" }
}

function withoutReference(payload: Json): Json {
  if (!isJsonObject(payload)) return payload
  const { replyTo: _old, quote: _words, ...rest } = payload
  return rest
}
