// Memory: the notes of an agent, to find, read and change. What is being written survives a reload of the page.
import { useEffect } from "../ui/hooks.ts"
import { call } from "../api.ts"
import { inQuery, link, place } from "../router.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { Field, bound } from "../ui/form.tsx"
import { Button, Empty, Head, Line } from "../ui/parts.tsx"
import { Rows, fixedList } from "../ui/rows.tsx"
import { type Signal, useSignal } from "../ui/signals.ts"
import { Time } from "../ui/time.tsx"

export default function Memory() {
  const { path, query } = place.current
  const agent = query.get("agent")?.trim() || undefined
  const text = query.get("text")?.trim() ?? ""
  if (path[1] !== undefined) return <Note key={path[1]} name={path[1]} agent={agent} />
  return (
    <>
      <div class="filters" role="search">
        <Field label="Find in the notes" type="search" of={inQuery("text")} />
        <Field label="Agent" of={inQuery("agent")} placeholder="the first" />
      </div>
      <List key={`${agent} ${text}`} agent={agent} text={text} />
    </>
  )
}

function List({ agent, text }: { agent: string | undefined; text: string }) {
  const asked = useAsked("notes", async () => {
    if (text === "") {
      const { notes } = await call("GET /api/memory/notes", { query: { agent } })
      return notes.map(({ name, bytes, sections, modifiedAt }) => ({
        name,
        more: sections.join(", ") || `${bytes} bytes`,
        at: modifiedAt as number | undefined,
      }))
    }
    const { notes } = await call("GET /api/memory/search", { query: { agent, text, scope: "notes" } })
    return notes.map(({ name, heading, text: found }) => ({ name, more: `${heading}: ${found}`, at: undefined }))
  })
  const known = asked.known
  if (!known) return <Pending of={asked} />
  return (
    <Rows
      list={fixedList(known.map((note, index) => ({ ...note, id: index })))}
      label="Notes"
      empty={["No notes", "Tell the agent to remember something, or write MEMORY.md yourself."]}
    >
      {({ name, more, at }) => (
        <>
          <Line to={addressOf(name, agent)} title={name} more={more} />
          {at !== undefined && <Time at={at} />}
        </>
      )}
    </Rows>
  )
}

const addressOf = (name: string, agent: string | undefined) =>
  link("memory", name) + (agent === undefined ? "" : `?agent=${encodeURIComponent(agent)}`)

interface Draft {
  text: string
  version: string | null
}

export async function saveNote(
  note: Draft & { agent: string | undefined; name: string },
  draft: Signal<Draft | undefined>,
  again: () => Promise<void>,
): Promise<void> {
  const { version } = await call("POST /api/memory/note", { body: note })
  // What was typed meanwhile stays, and goes on from what is saved.
  draft.current = { text: draft.current?.text ?? note.text, version }
  await again()
  if (draft.current.text === note.text) draft.current = undefined
}

function Note({ name, agent }: { name: string; agent: string | undefined }) {
  const kept = `svc-page-note ${agent} ${name}`
  const asked = useAsked(kept, () => call("GET /api/memory/note", { query: { agent, name } }))
  /** With the version that it was begun from. */
  const draft = useSignal<Draft | undefined>(JSON.parse(sessionStorage.getItem(kept) ?? "null") ?? undefined)
  useEffect(() => {
    if (draft.current) sessionStorage.setItem(kept, JSON.stringify(draft.current))
    else sessionStorage.removeItem(kept)
  }, [draft.current])
  const known = asked.known
  if (!known) return <Pending of={asked} />
  const { text, version } = draft.current ?? known
  return (
    <>
      <Head back={["memory", "All notes"]} title={name}>
        {draft.current && (
          <>
            <Button act={() => (draft.current = undefined)}>Discard</Button>
            <Button act={() => saveNote({ agent, name, text, version }, draft, asked.again)} done="Saved" kind="main">
              Save
            </Button>
          </>
        )}
      </Head>
      {draft.current && version !== known.version && text !== known.text && (
        <Empty title="It has changed since you began">Copy what you want to keep, and discard.</Empty>
      )}
      <Field
        label={`Note of ${known.agentId}`}
        rows={24}
        of={bound(text, (words) => (draft.current = { text: words, version }))}
      />
    </>
  )
}
