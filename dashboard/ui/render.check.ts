// For render.test.ts, in a browser: the same trees drawn by render.ts and by Preact, and what no picture of a tree shows.
import * as preact from "preact"
import * as own from "./render.ts"
import { signal } from "./signals.ts"

type Create = (type: never, properties: Record<string, unknown>, ...children: unknown[]) => unknown
/** A tree as either of both takes it. */
type Plan = (create: Create) => unknown

/** Numbers that look random, and are the same each time. */
function createDice(seed: number) {
  let state = seed
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
type Dice = ReturnType<typeof createDice>

const Box = ({ children }: { children?: unknown }) => children
const Pair = ({ first, children }: { first: unknown; children?: unknown }) => [first, children]

function plan(dice: Dice, depth: number, key?: number): Plan {
  const kind = dice(10)
  if (key === undefined && kind < 5) {
    const word = ["some", "", 0, null, false][kind]
    return () => word
  }
  const inner = plans(dice, depth + 1)
  const shared: Record<string, unknown> = key === undefined ? {} : { key }
  if (dice(2) === 1) Object.assign(shared, { class: ["a", "b", undefined][dice(3)], title: ["t", undefined][dice(2)] })
  if (dice(3) === 1) Object.assign(shared, { "aria-busy": dice(2) === 1, hidden: dice(2) === 1 })
  if (dice(4) === 1) Object.assign(shared, { style: { height: `${dice(3)}px` } })
  const type = ["p", "div", "b", "svg", Box, Pair][dice(6)] as never
  const all = type === Pair ? { ...shared, first: "first" } : shared
  return (create) => create(type, all, ...inner.map((one) => one(create)))
}

/** Children, of which some are lists of what has keys. */
function plans(dice: Dice, depth: number): Plan[] {
  if (depth > 4) return []
  return Array.from({ length: dice(4) }, () => {
    if (dice(3) > 0) return plan(dice, depth)
    const keys = Array.from({ length: dice(6) }, () => dice(9))
    const list = [...new Set(keys)].map((key) => plan(dice, depth + 1, key))
    return (create) => list.map((one) => one(create))
  })
}

/** Which element is used again for another may differ, and leaves empty attributes behind, in another order. */
function describe(node: Node): string {
  if (!(node instanceof Element)) return node.textContent ?? ""
  const attributes = [...node.attributes].map(({ name, value }) => `${name}=${value}`)
  const shown = attributes.filter((one) => !/^(?:title|style)=$/.test(one)).sort()
  return `<${[node.namespaceURI, node.tagName, ...shown].join(" ")}>${[...node.childNodes].map(describe).join("")}</>`
}

const settled = () => new Promise((resolve) => setTimeout(resolve))
/** Behind what was painted. */
const painted = () => new Promise((resolve) => setTimeout(resolve, 80))

/** Draws what a signal holds. */
function draw(first: unknown) {
  const host = document.createElement("div")
  document.body.append(host)
  const shown = signal(first)
  own.render(
    own.createElement(() => shown.current, {}),
    host,
  )
  return {
    host,
    async show(next: unknown) {
      shown.current = next
      await settled()
    },
  }
}

const h = own.createElement as unknown as Create

const checks = {
  /** The first tree that both draw differently, of many that come one after the other. */
  async difference(seed: number, steps: number): Promise<string[] | undefined> {
    const dice = createDice(seed)
    const { host, show } = draw(undefined)
    const other = document.createElement("div")
    for (let step = 0; step < steps; step += 1) {
      const made = plans(dice, 0)
      await show(made.map((one) => one(h)))
      preact.render(made.map((one) => one(preact.h as unknown as Create)) as preact.ComponentChildren, other)
      const [mine, its] = [describe(host), describe(other)]
      if (mine !== its) return [String(step), mine, its]
    }
    host.remove()
    return undefined
  },

  /** Of rows with keys, whether each is the same element in every order, and the one that is typed into keeps the focus. */
  async keepsRows(): Promise<boolean[]> {
    const rows = (order: string) => [...order].map((key) => h("input" as never, { key, id: `row-${key}` }))
    const { host, show } = draw(rows("abcd"))
    const known = new Map([...host.children].map((element) => [element.id, element]))
    document.getElementById("row-c")?.focus()
    const kept: boolean[] = []
    for (const order of ["xabcd", "bcd", "cd", "acdb", "cdbax"]) {
      await show(rows(order))
      const isOrdered = [...host.children].map(({ id }) => id.slice(-1)).join("") === order
      const isSame = ["row-c", "row-d"].every((id) => document.getElementById(id) === known.get(id))
      kept.push(isOrdered && isSame && document.activeElement?.id === "row-c")
    }
    host.remove()
    return kept
  },

  /** What effects and references have told, in order. */
  async effects(): Promise<string[]> {
    const told: string[] = []
    const Part = ({ name, inner }: { name: string; inner?: unknown }) => {
      own.useLayoutEffect(() => {
        told.push(`layout ${name}`)
        return () => told.push(`no layout ${name}`)
      }, [name])
      own.useEffect(() => {
        told.push(`effect ${name}`)
        return () => told.push(`no effect ${name}`)
      }, [name])
      return h("p" as never, { ref: (node: unknown) => told.push(`${node ? "is" : "was"} ${name}`) }, inner)
    }
    const part = (name: string, inner?: unknown) => h(Part as never, { name, inner })
    const { show } = draw(part("a", part("b")))
    await painted()
    await show(part("c", part("b")))
    await painted()
    await show(undefined)
    return told
  },

  /** What is left of a page of which one part throws. */
  async afterError(): Promise<string> {
    const Bad = () => {
      throw new Error("one part")
    }
    const { host, show } = draw([h(Bad as never, {}), "before"])
    await show([h(Bad as never, {}), "after"])
    return host.innerHTML
  },

  /** Who has heard a press of a button, at which its surroundings begin to listen. */
  async heard(): Promise<string[]> {
    const told: string[] = []
    const isOpen = signal(false)
    const Panel = () =>
      h(
        "div" as never,
        { onClick: isOpen.current ? () => told.push("panel") : undefined },
        h("button" as never, { id: "press", onClick: () => (isOpen.current = told.push("button") > 0) }),
      )
    draw(h(Panel as never, {}))
    return told
  },
}

Object.assign(globalThis, { checks })
export type Checks = typeof checks
