// Requests without proof are kept once for an address and hour, with how many they were; and how much the kept
// deliveries take is known at any time, so that it can be bounded without looking at all of them.
import { type Kysely, sql } from "kysely"

const size = (row: string) =>
  `(200 + length(${row}.body) + length(${row}.headers) + length(${row}.query) + coalesce(length(${row}.answer), 0))`

const statements = [
  "alter table hook_delivery add column address text",
  "alter table hook_delivery add column times integer not null default 1",
  "create table hook_kept (id integer primary key check (id = 1), bytes integer not null) strict",
  `insert into hook_kept (id, bytes) select 1, coalesce(sum(${size("hook_delivery")}), 0) from hook_delivery`,
  `create trigger hook_delivery_kept after insert on hook_delivery begin
     update hook_kept set bytes = bytes + ${size("new")} where id = 1;
   end`,
  `create trigger hook_delivery_gone after delete on hook_delivery begin
     update hook_kept set bytes = bytes - ${size("old")} where id = 1;
   end`,
]

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}
