import assert from "node:assert/strict"
import { test } from "node:test"
import { loadPageModules } from "../../test/support/page-modules.ts"

interface Modules {
  watchTouch(
    view: object,
    send: (event: { kind: string; event?: string; x?: number }) => void,
    tapped: () => void,
  ): void
}

const { watchTouch } = await loadPageModules<Modules>("takeover/hands.ts")

class Stage extends EventTarget {
  closest = () => null
}

test("what a finger drags is let go where it is when a second one comes", ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] })
  const stage = new Stage()
  const sent: string[] = []
  const pointAt = ({ clientX: x, clientY: y }: { clientX: number; clientY: number }) => ({ x, y })
  watchTouch(
    { stage, pointAt },
    ({ event, x }) => void sent.push(`${event} ${x}`),
    () => undefined,
  )
  const touch = (type: string, pointerId: number, clientX: number) =>
    stage.dispatchEvent(Object.assign(new Event(type), { pointerType: "touch", pointerId, clientX, clientY: 5 }))
  touch("pointerdown", 1, 10)
  mock.timers.tick(350)
  touch("pointermove", 1, 60)
  touch("pointerdown", 2, 200)
  touch("pointerup", 2, 200)
  touch("pointerup", 1, 60)
  assert.deepEqual(sent, ["down 10", "move 60", "up 60"])
})
