// The page behind a link to a tab: its picture, live; hands on it; and giving it back.
import { type HandEvent, Refused, type Shown, ask, enter, follow, forget, holding, sender } from "./connection.ts"
import { showPicker } from "./picker.ts"
import { watchKeys, watchMouse, watchTouch } from "./hands.ts"
import { type View, createView } from "./view.ts"

function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  fields: Partial<HTMLElementTagNameMap[Name]> = {},
  inside: readonly (Node | string)[] = [],
): HTMLElementTagNameMap[Name] {
  const element = Object.assign(document.createElement(name), fields)
  element.append(...inside)
  return element
}

const where = make("span", { id: "where" })
const reason = make("p", { id: "reason" })
const back = make("button", { type: "button", textContent: "←", title: "Back", ariaLabel: "Back" })
const typing = make("button", { type: "button", textContent: "⌨", title: "Keyboard", ariaLabel: "Keyboard" })
const tabs = make("span")
const give = make("button", { type: "button", className: "main", textContent: "Give back" })
const header = make("header", {}, [back, typing, where, tabs, give, reason])
const canvas = make("canvas", { id: "picture", ariaLabel: "The tab", role: "img" })
const keys = make("input", { id: "keys", ariaLabel: "What you type goes to the tab", autocapitalize: "off" })
keys.autocomplete = "off"
keys.spellcheck = false
keys.setAttribute("autocorrect", "off")
const question = make("section", { id: "question", hidden: true, role: "alertdialog" })
const choice = make("section", { id: "choice", hidden: true, role: "dialog" })
const message = make("section", { id: "message", hidden: true })
message.setAttribute("role", "status")
const stage = make("main", { id: "stage" }, [canvas, keys, question, choice, message])
document.body.append(header, stage)

/** The tab in hand; another one, with a key of its own, when its page was opened again. */
let inHand: { key: string; send: ReturnType<typeof sender> } | undefined
const send = (event: HandEvent) => inHand?.send(event)
const toTab = () => keys.focus({ preventScroll: true })
let view: View | undefined

void start()

async function start(again?: string): Promise<void> {
  const held = holding(again)
  if (!held) return refused(new Refused("Open the link that you were sent."), "")
  say("Opening …")
  for (let pause = 500; ; pause = Math.min(pause * 2, 5_000)) {
    try {
      reason.textContent = await enter(held)
      break
    } catch (error) {
      if (error instanceof Refused) return refused(error, held.token ?? held.key)
      say(`${(error as Error).message}. Trying again …`)
    }
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
  header.hidden = false
  canvas.hidden = false
  await run(held.key)
}

function refused(error: Refused, secret: string): void {
  header.hidden = true
  say(error.message)
  // The link is good for one thing more.
  if (error.code === "tab-gone") message.append(openAgain(secret))
}

function openAgain(token: string): HTMLButtonElement {
  const button = make("button", { type: "button", className: "main", textContent: "Open its page again" })
  button.addEventListener("click", () => void start(token))
  return button
}

/** Once for all tabs that come to hand: who listens twice sends all of it twice, and the first time to one that is gone. */
function connect(): View {
  const made = createView(stage, canvas)
  watchMouse(made, send)
  watchTouch(made, send, toTab)
  watchKeys(keys, send)
  canvas.addEventListener("pointerdown", toTab)
  canvas.addEventListener("mousedown", (event) => event.preventDefault())
  typing.addEventListener("click", toTab)
  back.addEventListener("click", () => send({ kind: "back" }))
  give.addEventListener("click", () => inHand && void giveBack(inHand.key))
  return made
}

async function run(key: string): Promise<void> {
  const shown = (view ??= connect())
  inHand = { key, send: sender(key, say) }
  /** What is answered here goes on in the tab: the next key is meant for it. */
  const sendAnswer = (event: HandEvent) => {
    send(event)
    toTab()
  }
  let asked = ""
  let offered = "null"
  const pick = (event: HandEvent) => {
    // The same may be opened again before the gateway has told that this one is closed.
    offered = "null"
    sendAnswer(event)
  }
  await follow(key, {
    picture(jpeg) {
      message.hidden = true
      void shown.draw(jpeg)
    },
    state(state) {
      shown.resize(state.width, state.height)
      show(state, send)
      const now = JSON.stringify(state.dialog)
      if (now !== asked) answer(state.dialog, sendAnswer)
      asked = now
      const picking = JSON.stringify(state.picker)
      if (picking !== offered) {
        choice.hidden = state.picker === null
        if (state.picker) showPicker(choice, state.picker, pick, make)
        else toTab()
      }
      offered = picking
    },
    ended(isOver, why, code) {
      say(why)
      if (code === "tab-gone") message.append(openAgain(key))
      if (!isOver) return
      header.hidden = true
      canvas.hidden = true
      forget()
    },
  })
}

function show(state: Shown, send: (event: HandEvent) => void): void {
  const address = URL.canParse(state.url) ? new URL(state.url) : undefined
  where.textContent = address ? address.host || address.href : ""
  where.title = state.url
  document.title = `Take over: ${where.textContent}`
  const others = state.tabs.length > 1 ? state.tabs : []
  tabs.replaceChildren(
    ...others.map(({ targetId, title, shown }, index) => {
      const button = make("button", { type: "button", title, textContent: String(index + 1) })
      button.setAttribute("aria-pressed", String(shown))
      button.addEventListener("click", () => send({ kind: "tab", targetId }))
      return button
    }),
  )
}

/** A question of the page, which no picture shows. */
function answer(dialog: Shown["dialog"], send: (event: HandEvent) => void): void {
  question.hidden = dialog === null
  if (!dialog) return
  const field = make("input", { ariaLabel: "Answer" })
  const reply = (accept: boolean) => () =>
    send({ kind: "dialog", accept, ...(dialog.type === "prompt" && accept ? { text: field.value } : {}) })
  const ok = make("button", { type: "button", className: "main", textContent: "OK" })
  const cancel = make("button", { type: "button", textContent: "Cancel" })
  ok.addEventListener("click", reply(true))
  cancel.addEventListener("click", reply(false))
  question.replaceChildren(
    make("p", { textContent: dialog.message }),
    ...(dialog.type === "prompt" ? [field] : []),
    ok,
    " ",
    cancel,
  )
  ok.focus()
}

async function giveBack(key: string): Promise<void> {
  give.disabled = true
  try {
    await ask("give-back", key, {})
    say("Given back. You can close this page.")
  } catch (error) {
    give.disabled = false
    say((error as Error).message)
  }
}

function say(words: string): void {
  message.hidden = false
  message.replaceChildren(make("p", { textContent: words }))
}
