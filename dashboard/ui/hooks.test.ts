import assert from "node:assert/strict"
import { type TestContext, test } from "node:test"
import { loadPageModules } from "../../test/support/page-modules.ts"

interface Modules {
  component(drawing: () => unknown): new (properties: object) => {
    render(): unknown
    forceUpdate(): void
    componentWillUnmount(): void
  }
  signal<Value>(initial: Value): { current: Value }
  useSignal<Value>(initial: Value): { current: Value }
  useMemo<Value>(make: () => Value, inputs: readonly unknown[]): Value
  useEffect(effect: () => (() => void) | void, inputs: readonly unknown[]): void
  useId(): string
}

const { component, signal, useEffect, useId, useMemo, useSignal } = await loadPageModules<Modules>(
  "ui/hooks.ts",
  "ui/signals.ts",
)

/** A component of this function, without Preact round it: `again` counts how often it has asked to be drawn anew. */
function mount(drawing: () => unknown) {
  const made = new (component(drawing))({})
  const drawn = { again: 0, draw: () => made.render(), end: () => made.componentWillUnmount() }
  made.forceUpdate = () => void (drawn.again += 1)
  return drawn
}

/** Frames as they are asked for, and no time but what a test lets pass. */
function startFrames(context: TestContext) {
  const frames: (() => void)[] = []
  context.mock.timers.enable({ apis: ["setTimeout"] })
  Object.assign(globalThis, {
    requestAnimationFrame: (act: () => void) => frames.push(act),
    cancelAnimationFrame: () => undefined,
  })
  return {
    paint() {
      frames.splice(0).forEach((act) => act())
      context.mock.timers.tick(1)
    },
    pass: (ms: number) => context.mock.timers.tick(ms),
  }
}

test("an effect runs when what was drawn is painted, again with other inputs alone, and is ended before that and at the end", (context) => {
  const { paint } = startFrames(context)
  const heard: string[] = []
  let input = 1
  const one = mount(() => {
    const own = input
    useEffect(() => {
      heard.push(`begin ${own}`)
      return () => heard.push(`end ${own}`)
    }, [own])
  })
  one.draw()
  assert.deepEqual(heard, [])
  paint()
  one.draw()
  paint()
  assert.deepEqual(heard, ["begin 1"])
  input = 2
  one.draw()
  paint()
  assert.deepEqual(heard, ["begin 1", "end 1", "begin 2"])
  one.end()
  assert.deepEqual(heard.slice(3), ["end 2"])
})

test("an effect that was not painted yet runs before its component is drawn anew, and never once that is gone", (context) => {
  const { paint } = startFrames(context)
  const heard: string[] = []
  const one = mount(() => {
    heard.push("drawn")
    useEffect(() => void heard.push("effect"), [])
  })
  one.draw()
  one.draw()
  paint()
  assert.deepEqual(heard, ["drawn", "effect", "drawn"])
  const other = mount(() => useEffect(() => void heard.push("too late"), []))
  other.draw()
  other.end()
  paint()
  assert.equal(heard.length, 3)
})

test("an effect that throws is told, and keeps no other from running", (context) => {
  const { paint } = startFrames(context)
  const heard: unknown[] = []
  Object.assign(globalThis, { reportError: (error: Error) => heard.push(error.message) })
  mount(() =>
    useEffect(() => {
      throw new Error("broken")
    }, []),
  ).draw()
  mount(() => useEffect(() => void heard.push("the next one"), [])).draw()
  paint()
  assert.deepEqual(heard, ["broken", "the next one"])
})

test("effects of a page that nobody sees, which is not painted, run all the same", (context) => {
  const { pass } = startFrames(context)
  let runs = 0
  mount(() => useEffect(() => void (runs += 1), [])).draw()
  pass(34)
  assert.equal(runs, 0)
  pass(1)
  pass(1)
  assert.equal(runs, 1)
})

test("whoever has read a signal in its last run is drawn again when that is another, and nobody else", () => {
  const shown = signal("a")
  const isRead = signal(true)
  const reader = mount(() => isRead.current && shown.current)
  const other = mount(() => useSignal("own").current)
  assert.equal(reader.draw(), "a")
  other.draw()
  shown.current = "a"
  assert.equal(reader.again, 0)
  shown.current = "b"
  assert.deepEqual([reader.again, other.again], [1, 0])
  isRead.current = false
  reader.draw()
  shown.current = "c"
  assert.equal(reader.again, 2)
  reader.end()
  isRead.current = true
  assert.equal(reader.again, 2)
})

test("what reads a signal outside of any component, also behind one that has thrown, follows nothing", () => {
  const shown = signal(1)
  const broken = mount(() => {
    throw new Error("broken")
  })
  assert.throws(() => broken.draw(), /broken/)
  assert.equal(shown.current, 1)
  shown.current = 2
  assert.equal(broken.again, 0)
})

test("what a component keeps is its own, in the order of its hooks, and made anew with other inputs", () => {
  let input = "a"
  let made = 0
  const drawing = () => [useId(), useMemo(() => `${input}${(made += 1)}`, [input]), useId()]
  const [one, other] = [mount(drawing), mount(drawing)]
  const [first, kept, second] = one.draw() as string[]
  assert.deepEqual(one.draw(), [first, kept, second])
  assert.equal(made, 1)
  assert.equal(new Set([...(one.draw() as string[]), ...(other.draw() as string[])]).size, 6)
  input = "b"
  assert.deepEqual(one.draw(), [first, "b3", second])
  assert.equal(component(drawing), component(drawing))
})
