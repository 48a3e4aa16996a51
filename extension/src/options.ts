// The options page: shows how things stand, and sends what the person changes to the background, which decides.
import { chrome } from "./chrome.ts"
import type { OptionsState } from "./options-answers.ts"

/** The parts of the page's document that are used here. */
interface PageNode {
  textContent: string | null
  value: string
  checked: boolean
  append(...nodes: (PageNode | string)[]): void
  replaceChildren(...nodes: PageNode[]): void
  setAttribute(name: string, value: string): void
  addEventListener(type: string, listener: (event: { preventDefault(): void }) => void): void
}

interface Page {
  activeElement: PageNode | null
  getElementById(id: string): PageNode | null
  createElement(name: string): PageNode
}

const page = (globalThis as unknown as { document: Page }).document

function part(id: string): PageNode {
  const found = page.getElementById(id)
  if (!found) throw new Error(`The page has no ${id}`)
  return found
}

async function ask<Answer>(message: unknown): Promise<Answer> {
  const answer = (await chrome.runtime.sendMessage(message)) as Answer & { error?: string }
  if (answer.error !== undefined) throw new Error(answer.error)
  return answer
}

/** Shows what went wrong where a person and a screen reader find it. */
async function attempt(work: () => Promise<void>): Promise<void> {
  part("message").textContent = ""
  try {
    await work()
  } catch (error) {
    part("message").textContent = error instanceof Error ? error.message : String(error)
  }
}

function show(state: OptionsState): void {
  part("paired").textContent = state.isPaired ? "Paired. A new code replaces the pairing." : "Not paired yet."
  part("link").textContent = state.link
  for (const [id, value] of [
    ["port", state.port],
    ["minutes", state.idleMinutes],
  ] as const) {
    // Not while somebody types there.
    if (page.activeElement !== part(id)) part(id).value = String(value)
  }
  part("popups").checked = state.popups
  part("newTabs").checked = state.newTabs
  part("tabs").replaceChildren(...state.tabs.map(line))
}

function line({ tabId, title, url, by }: OptionsState["tabs"][number]): PageNode {
  const item = page.createElement("li")
  const words = page.createElement("span")
  const address = page.createElement("small")
  address.textContent = by === "person" ? url : `${url} (opened by the ${by})`
  words.append(title === "" ? "(no title)" : title, address)
  const button = page.createElement("button")
  button.textContent = "Detach"
  button.setAttribute("type", "button")
  button.setAttribute("aria-label", `Detach ${title}`)
  button.addEventListener("click", () => void attempt(async () => show(await ask({ type: "detach", tabId }))))
  item.append(words, button)
  return item
}

function change(form: string, input: string, name: string): void {
  part(form).addEventListener("submit", (event) => {
    event.preventDefault()
    void attempt(async () => {
      show(await ask({ type: "change", change: { [name]: part(input).value } }))
      if (input === "code") part(input).value = ""
      part("message").textContent = "Saved."
    })
  })
}

change("pair", "code", "code")
change("place", "port", "port")
change("idle", "minutes", "idleMinutes")
for (const name of ["popups", "newTabs"]) {
  part(name).addEventListener(
    "change",
    () => void attempt(async () => show(await ask({ type: "change", change: { [name]: part(name).checked } }))),
  )
}
part("check").addEventListener(
  "click",
  () =>
    void attempt(async () => {
      part("checked").textContent = ""
      part("checked").textContent = (await ask<{ ok: string }>({ type: "check" })).ok
    }),
)

const refresh = () => attempt(async () => show(await ask({ type: "state" })))
void refresh()
setInterval(() => void ask<OptionsState>({ type: "state" }).then(show, () => undefined), 1_000)
