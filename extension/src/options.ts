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
  focus(): void
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
  say(part("paired"), state.isPaired ? "Paired. A new code replaces the pairing." : "Not paired yet.")
  say(part("link"), state.link)
  for (const [id, value] of [
    ["port", state.port],
    ["minutes", state.idleMinutes],
  ] as const) {
    // Not while somebody types there.
    if (page.activeElement !== part(id)) part(id).value = String(value)
  }
  part("popups").checked = state.popups
  part("newTabs").checked = state.newTabs
  list(state.tabs)
}

/** Only what has changed: a screen reader says again whatever is set again. */
function say(node: PageNode, text: string): void {
  if (node.textContent !== text) node.textContent = text
}

type ListedTab = OptionsState["tabs"][number]

interface Line {
  item: PageNode
  button: PageNode
  tell(tab: ListedTab): void
}

let lines = new Map<number, Line>()

/** Lines stay where they are while their tabs do: a press or the focus is not lost to the next look at the state. */
function list(tabs: ListedTab[]): void {
  const before = [...lines.keys()].join()
  lines = new Map(tabs.map(({ tabId }) => [tabId, lines.get(tabId) ?? makeLine(tabId)]))
  for (const tab of tabs) lines.get(tab.tabId)?.tell(tab)
  if ([...lines.keys()].join() === before) return
  const focused = [...lines.values()].find(({ button }) => button === page.activeElement)
  part("tabs").replaceChildren(...[...lines.values()].map(({ item }) => item))
  focused?.button.focus()
}

function makeLine(tabId: number): Line {
  const [item, words, name, address, button] = ["li", "span", "span", "small", "button"].map((tag) =>
    page.createElement(tag),
  ) as [PageNode, PageNode, PageNode, PageNode, PageNode]
  button.textContent = "Detach"
  button.setAttribute("type", "button")
  button.addEventListener("click", () => void attempt(async () => show(await ask({ type: "detach", tabId }))))
  words.append(name, address)
  item.append(words, button)
  const tell = ({ title, url, by }: ListedTab) => {
    const shown = title === "" ? "(no title)" : title
    say(name, shown)
    say(address, by === "person" ? url : `${url} (opened by the ${by})`)
    button.setAttribute("aria-label", `Detach ${shown}`)
  }
  return { item, button, tell }
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
