// The chat page: people write to bots here, as they would with the platform's own programs.
import { render } from "preact"
import { useEffect, useReducer, useState } from "preact/hooks"
import { hasToken } from "./api.ts"
import { Composer } from "./composer.tsx"
import { Conversation, nameOf, rememberedPlace } from "./conversation.ts"
import { Log } from "./log.tsx"
import { Places } from "./places.tsx"

async function begin(conversation: Conversation): Promise<void> {
  await conversation.loadPlaces()
  const remembered = rememberedPlace()
  await conversation.open(remembered)
  void conversation.follow()
}

function Page() {
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const [conversation] = useState(() => new Conversation(() => redraw(undefined)))
  useEffect(() => {
    if (hasToken) void conversation.attempt(() => begin(conversation))
  }, [])
  const { place, chat, status, notice } = conversation
  const name = chat?.title ?? (place ? nameOf(place.bot) : "Chat")
  return (
    <>
      <header>
        <div class="who">
          <h1>{name}</h1>
          <span id="status">
            {hasToken ? status || (chat ? chat.type : "bot") : "open the address that the emulator printed"}
          </span>
        </div>
        <Places conversation={conversation} />
      </header>
      <Log conversation={conversation} />
      {place ? <Composer conversation={conversation} /> : null}
      <div id="notice" role="status" hidden={notice === ""}>
        {notice}
      </div>
    </>
  )
}

render(<Page />, document.body)
