import assert from "node:assert/strict"
import { constants } from "node:sqlite"
import { join } from "node:path"
import { test } from "node:test"
import { temporaryFolder } from "../../test/support/temporary.ts"
import { openSqlite } from "./sqlite.ts"

test("plans a statement once, whatever numbers are bound to it later", (context) => {
  const { raw, prepare } = openSqlite(join(temporaryFolder(), "svc.db"))
  context.after(() => raw.close())
  raw.exec("create table note (id integer primary key, text text); insert into note (text) values ('a'), ('b'), ('c')")
  const texts = (sql: string, ...values: number[]) =>
    prepare(sql)
      .all(...values)
      .map((row) => row["text"])
  const ask = [
    (most: number) => texts("select text from note where id > ? order by id limit ?", 1, most),
    (most: number) => texts("select text from note order by id limit ?2 offset ?1", 1, most),
    (most: number) =>
      texts("update note set text = text where id in (select id from note limit ?) returning text", most),
  ]
  let planned = 0
  raw.setAuthorizer(() => {
    planned += 1
    return constants.SQLITE_OK
  })
  for (const each of ask) each(3)
  assert.ok(planned > 0)
  planned = 0
  assert.deepEqual(
    ask.map((each) => each(1)),
    [["b"], ["b"], ["a"]],
  )
  assert.deepEqual(
    ask.map((each) => each(2)),
    [
      ["b", "c"],
      ["b", "c"],
      ["a", "b"],
    ],
  )
  assert.equal(planned, 0)
})
