// A conversation of years, written into the store of a gateway that has ended.
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import type { BenchGateway } from "./gateway.ts"

export const mainSession = "agent:main:main"

/** Words as a language has them: few that stand everywhere, many that are seldom. */
function* vocabulary(): Generator<string, never> {
  let seed = 1
  const random = () => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff) / 0x7fffffff
  const common = "the to and of a in is that it for you was on are with".split(" ")
  const letters = "abcdefghijklmnoprstuvw"
  const make = () =>
    Array.from({ length: 2 + Math.floor(random() * 8) }, () => letters[Math.floor(random() * 22)]).join("")
  const seldom = Array.from({ length: 30_000 }, make)
  for (;;) {
    const list = random() < 0.4 ? common : seldom
    yield list[Math.floor(random() ** 2 * list.length)] ?? ""
  }
}

/** Fills the store of a gateway that has ended. Every tenth message is in the main session, or all. */
export function fill(gateway: BenchGateway, count: number, isAlone: boolean): { perMessage: number; rare: string } {
  const database = new DatabaseSync(join(gateway.stateFolder, "svc.db"))
  const words = vocabulary()
  const text = (length: number) => Array.from({ length }, () => words.next().value).join(" ")
  const sessions = isAlone
    ? [mainSession]
    : [mainSession, ...Array.from({ length: 9 }, (_, n) => `agent:main:chatapp:group:-${n}`)]
  try {
    database.exec("begin")
    const open = database.prepare(
      "insert into session (key, agent_id, session_id, created_at, updated_at) values (?, 'main', ?, ?, ?)",
    )
    for (const [n, name] of sessions.entries()) open.run(name, `session-${n}`, Date.now(), Date.now())
    const insert = database.prepare(
      `insert into message (session_id, job_id, message, tokens, created_at, origin, trusted)
       values (?, 1, ?, ?, ?, 'owner', 1)`,
    )
    const began = performance.now()
    for (let n = 0; n < count; n += 1) {
      const said = text(20 + (n % 40))
      const isOfUser = Math.floor(n / sessions.length) % 2 === 0
      const message = isOfUser
        ? { role: "user", content: [{ type: "text", text: said }] }
        : { role: "assistant", text: said, toolCalls: [] }
      insert.run(`session-${n % sessions.length}`, JSON.stringify(message), Math.ceil(said.length / 3.5), Date.now())
    }
    const perMessage = (performance.now() - began) / count
    const row = database.prepare("select term from message_vocabulary where doc between 40 and 60 limit 1").get()
    database.exec("commit")
    return { perMessage, rare: String(row?.["term"]) }
  } finally {
    database.close()
  }
}
