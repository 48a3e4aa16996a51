// The configuration as a form made from its schema: where each value comes from, what is wrong while it is typed, and what
// saving would make of the file. What was typed survives a reload of the page.
import { signal } from "../ui/signals.ts"
import { useEffect } from "../ui/hooks.ts"
import { type Reply, call } from "../api.ts"
import { inQuery, place, setQuery } from "../router.ts"
import { Pending, useAsked } from "../ui/asked.tsx"
import { Check, Field, Select, bound } from "../ui/form.tsx"
import { Badge, Button, Empty, Failure, wordsOf } from "../ui/parts.tsx"
import { toast } from "../ui/toast.tsx"

type Key = Reply<"GET /api/config/fields">["fields"][number]
type Checked = Reply<"POST /api/config/check">
interface Draft {
  /** As it stands in its field. */
  raw: string
  change: { key: string; value?: never; text?: string }
}

const storageKey = "svc-page-config"
const drafts = signal<Record<string, Draft>>(JSON.parse(sessionStorage.getItem(storageKey) ?? "{}"))
const checked = signal<Checked | undefined>(undefined)
const problem = signal("")
const checkMs = 300

function setDrafts(next: Record<string, Draft>): void {
  drafts.current = next
  checked.current = undefined
  problem.current = ""
  sessionStorage.setItem(storageKey, JSON.stringify(next))
}

const changesOf = () => Object.values(drafts.current).map(({ change }) => change)

const rawOf = ({ kind, written }: Key): string => {
  if (written === undefined) return ""
  if (kind === "list" && Array.isArray(written)) return written.join("\n")
  if (kind === "choice") return JSON.stringify(written)
  return typeof written === "string" ? written : JSON.stringify(written, null, 2)
}

function changeOf({ key, kind }: Key, raw: string): Draft["change"] {
  if (raw.trim() === "") return { key }
  if (kind === "json") return { key, text: raw }
  const lines = () =>
    raw
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean)
  const value =
    kind === "choice" ? JSON.parse(raw) : kind === "list" ? lines() : kind === "number" && !isNaN(+raw) ? +raw : raw
  return { key, value: value as never }
}

export function type(field: Key, raw: string): void {
  const { [field.key]: _before, ...others } = drafts.current
  setDrafts(raw === rawOf(field) ? others : { ...others, [field.key]: { raw, change: changeOf(field, raw) } })
}

export function Configuration() {
  const { query } = place.current
  const section = query.get("section") ?? "messages"
  const entry = query.get("entry") ?? undefined
  const words = (query.get("text") ?? "").toLowerCase()
  const onlySet = query.get("set") === "1"
  const asked = useAsked(
    `${section} ${entry}`,
    async () => {
      const [overview, { fields }] = await Promise.all([
        call("GET /api/config"),
        call("GET /api/config/fields", { query: { section, entry } }),
      ])
      return { overview, fields }
    },
    { everyMs: 10_000 },
  )
  useEffect(() => {
    if (changesOf().length === 0) return
    const timer = setTimeout(() => void look(), checkMs)
    return () => clearTimeout(timer)
  }, [drafts.current])
  const known = asked.known
  if (!known) return <Pending of={asked} />
  const { overview, fields } = known
  const shown = fields.filter(
    ({ key, description, written }) =>
      `${key} ${description}`.toLowerCase().includes(words) &&
      (!onlySet || written !== undefined || key in drafts.current),
  )
  return (
    <>
      <p class="dim">
        <code>{overview.path}</code>. Keys that guard the door, and secrets, are shown here and changed in the file.
        {overview.mode === "off" && " Changes count from the next start on (gateway.reload.mode is off)."}
      </p>
      {overview.problems.map((text) => (
        <Failure key={text} error={text} />
      ))}
      <div class="filters section">
        <Select
          label="Section"
          of={bound(section, (value) => setQuery({ section: value, entry: "" }))}
          options={overview.sections.map(
            ({ name, written }) => [name, written > 0 ? `${name} (${written} set)` : name] as const,
          )}
        />
        <Field label="Find a key" type="search" of={inQuery("text")} />
        <Check label="Only what is set" of={bound(onlySet, (value) => setQuery({ set: value ? "1" : "" }))} />
      </div>
      {shown.length === 0 && <Empty title="No such key here">Take fewer words, or another section.</Empty>}
      <div class="keys">
        {shown.map((field) => (
          <ConfigKey
            key={field.key}
            field={field}
            label={field.key.slice(section.length).replace(/^\./, "") || section}
          />
        ))}
      </div>
      <Review again={asked.again} />
    </>
  )
}

export async function saveDrafts({ revision }: Checked): Promise<Reply<"POST /api/config/save">["effect"]> {
  const saved = drafts.current
  try {
    const { effect } = await call("POST /api/config/save", { body: { changes: changesOf(), revision } })
    // What was typed meanwhile is not in the file.
    setDrafts(Object.fromEntries(Object.entries(drafts.current).filter(([key, draft]) => draft !== saved[key])))
    return effect
  } catch (error) {
    // The file may be another one by now.
    void look()
    throw error
  }
}

async function look(): Promise<void> {
  const asked = drafts.current
  try {
    const answer = await call("POST /api/config/check", { body: { changes: changesOf() } })
    // What was typed since will be looked at by itself.
    if (drafts.current === asked) checked.current = answer
  } catch (error) {
    if (drafts.current === asked) problem.current = wordsOf(error)
  }
}

/** What stands between backticks, as code. */
const coded = (text: string) => text.split("`").map((part, index) => (index % 2 ? <code>{part}</code> : part))

function ConfigKey({ field, label }: { field: Key; label: string }) {
  const { key, kind, description, written, value, place: where, guarded, later, choices = [] } = field
  const draft = drafts.current[key]
  const raw = draft?.raw ?? rawOf(field)
  const of = bound(raw, (text) => type(field, text))
  const issue = checked.current?.issues.find((one) => one.key === key || one.key.startsWith(`${key}[`))?.message
  const standard = field.default ?? (value === undefined ? "" : JSON.stringify(value))
  const source = where ? `Set in ${where.file.split("/").pop()}, line ${where.line}` : kind === "map" ? "" : "Not set"
  const hint = (
    <>
      {coded(description)} {later && <Badge state="no effect yet" />} <b>{draft ? "Changed here" : source}</b>
    </>
  )
  if (guarded)
    return (
      <div class="field">
        <span>{label}</span>
        <span>
          <code>{raw || standard || "nothing"}</code>{" "}
          <Badge state={guarded === "secret" ? "secret" : "in the file alone"} />
        </span>
        <small class="dim">{hint}</small>
      </div>
    )
  if (kind === "map") return <Entry field={field} label={label} />
  if (kind === "choice")
    return (
      <Select
        label={label}
        of={of}
        hint={hint}
        problem={issue}
        options={[
          ["", standard === "" ? "not set" : `not set: ${standard}`],
          ...choices.map((one) => [JSON.stringify(one), String(one)] as const),
        ]}
      />
    )
  const rows = kind === "list" ? 3 : kind === "json" ? 5 : String(written ?? "").length > 80 ? 4 : undefined
  return (
    <Field
      label={kind === "list" ? `${label} (one a line)` : label}
      of={of}
      hint={hint}
      problem={issue}
      placeholder={standard}
      rows={rows}
    />
  )
}

/** A new entry of a map: its keys appear, and what is written in them makes it. */
function Entry({ field: { key, description }, label }: { field: Key; label: string }) {
  const add = (event: SubmitEvent) => {
    event.preventDefault()
    const name = new FormData(event.currentTarget as HTMLFormElement).get("name")
    if (name) setQuery({ entry: `${key}[${JSON.stringify(name)}]` })
  }
  return (
    <form class="field" onSubmit={add}>
      <span>{label}</span>
      <span class="buttons">
        <input name="name" aria-label={`New entry of ${label}`} placeholder="name or id" />
        <button type="submit">Add</button>
      </span>
      <small class="dim">{coded(description)}</small>
    </form>
  )
}

function Review({ again }: { again: () => Promise<void> }) {
  const count = changesOf().length
  if (count === 0) return null
  const known = checked.current
  const save = async () => {
    if (!known) return
    const effect = await saveDrafts(known)
    const when = {
      now: "in use",
      restart: "the gateway starts again with it",
      "next-start": "it counts from the next start on",
    }
    toast(`Saved: ${when[effect]}`)
    await again()
  }
  return (
    <section class="card review" aria-live="polite">
      <header>
        <h2>{count === 1 ? "One change" : `${count} changes`}</h2>
        <div class="buttons">
          <Button act={() => setDrafts({})}>Discard</Button>
          <Button act={save} kind="main" disabled={!known?.files.length}>
            Save
          </Button>
        </div>
      </header>
      {problem.current && <p class="wrong">{problem.current}</p>}
      {known?.issues.map(({ key, message }) => (
        <p class="wrong" key={key + message}>
          <code>{key}</code> {message}
        </p>
      ))}
      {known?.files.map(({ file, lines }) => (
        <div key={file}>
          <p class="dim">{file}</p>
          <pre class="diff" tabIndex={0} aria-label={`What changes in ${file}`}>
            {lines.map(({ kind, text }, index) => (
              <span key={index} class={kind}>
                {{ same: "  ", gone: "- ", new: "+ ", skipped: "…" }[kind]}
                {text}
                {"\n"}
              </span>
            ))}
          </pre>
        </div>
      ))}
      {known && known.issues.length === 0 && known.files.length === 0 && <p class="dim">The file says so already.</p>}
    </section>
  )
}
