// The top of the page: which bot, as whom, where; and how new people, bots, groups and topics are made.
import type { User } from "grammy/types"
import { useRef, useState } from "preact/hooks"
import type { MemberStatus } from "../../world/room.ts"
import { call } from "./api.ts"
import { type Conversation, nameOf } from "./conversation.ts"

interface Props {
  conversation: Conversation
}

interface Choice {
  value: number
  name: string
}

function Choose(props: { label: string; value: number; choices: Choice[]; choose: (value: number) => void }) {
  const { label, value, choices, choose } = props
  return (
    <select aria-label={label} value={value} onChange={(event) => choose(Number(event.currentTarget.value))}>
      {choices.map((choice) => (
        <option value={choice.value}>{choice.name}</option>
      ))}
    </select>
  )
}

export function Places({ conversation }: Props) {
  const { place, bots, users, groups, topics } = conversation
  if (!place) return null
  const open = (wanted: Parameters<Conversation["open"]>[0]) => {
    void conversation.attempt(() => conversation.open(wanted))
  }
  const openBot = (botId: number) =>
    conversation.attempt(async () => {
      await conversation.open({ botId })
      await conversation.loadPlaces()
    })
  const named = (all: User[]) => all.map((user) => ({ value: user.id, name: nameOf(user) }))
  const chats = groups.map((chat) => ({ value: chat.id, name: chat.title ?? "group" }))
  const openTopic = (topic: number) => open({ chatId: place.chatId, topic: topic === 0 ? undefined : topic })
  return (
    <div class="places">
      {bots.length > 1 ? (
        <Choose label="Bot" value={place.bot.id} choices={named(bots)} choose={(id) => void openBot(id)} />
      ) : null}
      <Choose label="Write as" value={place.me.id} choices={named(users)} choose={(userId) => open({ userId })} />
      {chats.length > 0 ? (
        <Choose
          label="Chat"
          value={place.chatId}
          choices={[{ value: place.me.id, name: "Private chat" }, ...chats]}
          choose={(chatId) => open({ chatId })}
        />
      ) : null}
      {topics.length > 0 ? (
        <Choose
          label="Topic"
          value={place.topic ?? 0}
          choices={[
            { value: 0, name: "All topics" },
            ...topics.map((one) => ({ value: one.threadId, name: one.name })),
          ]}
          choose={openTopic}
        />
      ) : null}
      <New conversation={conversation} />
    </div>
  )
}

type Form = "person" | "bot" | "group" | "topic" | "members"
const titles: Record<Form, string> = {
  person: "New person",
  bot: "New bot",
  group: "New group",
  topic: "New topic",
  members: "Members",
}

function New({ conversation }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [form, setForm] = useState<Form>("person")
  const [members, setMembers] = useState<Record<string, MemberStatus>>({})
  const { place, chat } = conversation
  const isGroup = chat !== undefined
  const show = (wanted: Form) =>
    conversation.attempt(async () => {
      if (wanted === "members") setMembers(await call("members", { chatId: place?.chatId ?? 0 }))
      setForm(wanted)
      dialog.current?.showModal()
    })
  const forms: Form[] = ["person", "bot", "group", "topic", ...(isGroup ? (["members"] as const) : [])]
  const close = () => dialog.current?.close()
  return (
    <>
      <select
        class="new"
        aria-label="New"
        value=""
        onChange={(event) => {
          const wanted = event.currentTarget.value as Form
          event.currentTarget.value = ""
          void show(wanted)
        }}
      >
        <option value="">New…</option>
        {forms.map((one) => (
          <option value={one}>{titles[one]}</option>
        ))}
      </select>
      <dialog ref={dialog} aria-label={titles[form]}>
        {form === "members" ? (
          <Members conversation={conversation} members={members} close={close} />
        ) : (
          <Make key={form} conversation={conversation} form={form} close={close} />
        )}
      </dialog>
    </>
  )
}

function Make({ conversation, form, close }: Props & { form: Form; close: () => void }) {
  const [name, setName] = useState("")
  const [isForum, setForum] = useState(false)
  const [token, setToken] = useState("")
  const submit = () =>
    conversation.attempt(async () => {
      if (form === "bot") {
        const made = await call("addBot", { firstName: name })
        setToken(made.token)
        await conversation.loadPlaces()
        return
      }
      close()
      setName("")
      await make(conversation, form, { name, isForum })
    })
  if (token !== "") {
    return (
      <div class="form">
        <p>The token of the new bot, for the configuration of whoever runs it:</p>
        <code>{token}</code>
        <button
          type="button"
          onClick={() => {
            close()
            setToken("")
          }}
        >
          Close
        </button>
      </div>
    )
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <label>
        {form === "group" || form === "topic" ? "Title" : "Name"}
        <input required value={name} onInput={(event) => setName(event.currentTarget.value)} />
      </label>
      {form === "group" ? (
        <label class="check">
          <input type="checkbox" checked={isForum} onChange={(event) => setForum(event.currentTarget.checked)} />
          with topics
        </label>
      ) : null}
      <button type="submit">{titles[form]}</button>
      <button type="button" onClick={close}>
        Cancel
      </button>
    </form>
  )
}

async function make(conversation: Conversation, form: Form, given: { name: string; isForum: boolean }): Promise<void> {
  const { name, isForum } = given
  const { place, where } = conversation
  const userId = place?.me.id ?? 0
  if (form === "person") {
    const { id } = await call("addUser", { firstName: name })
    await conversation.loadPlaces()
    await conversation.open({ userId: id })
  } else if (form === "topic") {
    const { threadId } = await call("addTopic", { ...where, userId, name })
    await conversation.open({ chatId: where.chatId, topic: threadId })
  } else {
    const members = conversation.users.map(({ id }) => id)
    const forum = isForum ? { type: "supergroup" as const, forum: true } : { type: "group" as const }
    const { id } = await call("addChat", { ...forum, title: name, members, botId: where.botId })
    await call("setMember", { chatId: id, userId, status: "creator" })
    await conversation.loadPlaces()
    await conversation.open({ chatId: id })
  }
}

const statuses: MemberStatus[] = ["creator", "administrator", "member", "restricted", "left", "kicked"]

function Members(props: Props & { members: Record<string, MemberStatus>; close: () => void }) {
  const { conversation, members, close } = props
  const { chatId } = conversation.where
  const all = [...conversation.users, ...conversation.bots]
  const by = conversation.place?.me.id ?? 0
  const change = (user: User, status: MemberStatus) =>
    void conversation.attempt(() => call("setMember", { chatId, userId: user.id, status, by }))
  return (
    <div class="form">
      <table>
        <tbody>
          {all.map((user) => (
            <tr>
              <th scope="row">{nameOf(user)}</th>
              <td>
                <select
                  aria-label={`Status of ${nameOf(user)}`}
                  value={members[user.id] ?? "left"}
                  onChange={(event) => change(user, event.currentTarget.value as MemberStatus)}
                >
                  {statuses.map((status) => (
                    <option value={status}>{status}</option>
                  ))}
                </select>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <button type="button" onClick={close}>
        Close
      </button>
    </div>
  )
}
