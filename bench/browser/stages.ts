// What is measured on each page: through HTTP, against the floor of the same run.
import type { BrowserBench } from "../../test/support/browser-service.ts"
import type { Figure } from "../figure.ts"
import { median, round } from "../statistics.ts"
import { count, limit, ratio, time } from "./figures.ts"
import { rawClick, rawOpen, rawPicture, RawTab, rawType, walker } from "./raw-tab.ts"

export interface Stage {
  bench: BrowserBench
  raw: RawTab
  /** Where the bench itself reaches the browser. */
  port: number
  url: string
  targetId: string
  snapshot(query: string): Promise<{ snapshot: string; refs: Record<string, { name?: string }> }>
  act(body: object): Promise<unknown>
}

export async function show(bench: BrowserBench, port: number, url: string): Promise<Stage> {
  const { targetId } = (await bench.call("POST", "/tabs/open", { url, timeoutMs: 60_000 })).body
  return {
    bench,
    port,
    url,
    targetId,
    raw: await RawTab.open(`ws://127.0.0.1:${port}/devtools/page/${targetId}`),
    snapshot: async (query) => (await bench.call("GET", `/snapshot?targetId=${targetId}&${query}`)).body,
    async act(body) {
      const reply = await bench.call("POST", "/act", { targetId, ...body })
      if (reply.status !== 200) throw new Error(JSON.stringify(reply.body))
      return reply.body
    },
  }
}

/** Before each measurement, also of the floor: a page that stands still has its styles and boxes ready. */
const touch = "document.querySelector('h3').title = String(performance.now())"

/** The same, for everybody to see. */
const change = "document.querySelector('h3').textContent = String(performance.now())"

export async function medium(stage: Stage): Promise<Figure[]> {
  const { raw, snapshot, act } = stage
  const touched = () => raw.evaluate(touch)
  const floor = await time(40, () => raw.evaluate(walker), touched)
  const full = await time(40, () => snapshot("interactive=true"), touched)
  const complete = await snapshot("interactive=true")
  const efficient = await snapshot("mode=efficient")
  const again = await time(40, () => snapshot("interactive=true&diff=true"))
  const same = await snapshot("interactive=true&diff=true")
  const byName = (name: string) => Object.entries(complete.refs).find(([, ref]) => ref.name === name)?.[0]
  const clickFloor = await time(30, () => rawClick(raw))
  const click = await time(30, () => act({ kind: "click", ref: byName("Button 1") }))
  const clickAndLook = () => act({ kind: "click", ref: byName("Button 1"), snapshot: "efficient" })
  const clickAndSee = await time(30, clickAndLook, () => raw.evaluate(change))
  const clickUnseen = await time(30, clickAndLook, touched)
  const tokens = (text: string) => Math.ceil(text.length / 4)
  return [
    ratio("interactive snapshot of 500 controls over HTTP", full, floor, 1.5),
    count("tokens of it, complete", tokens(complete.snapshot), 4_800),
    count("tokens of it, efficient", tokens(efficient.snapshot), 530),
    limit("second snapshot of an unchanged page", again, 3),
    count("tokens of it, as changes", tokens(same.snapshot), 10),
    ratio("click by ref with all checks", click, clickFloor, 2.5),
    limit("click and fresh efficient snapshot in one call", clickAndSee, 15),
    limit("the same where nothing that is shown has changed: the next two frames are waited for", clickUnseen, 50),
  ]
}

export async function large(stage: Stage): Promise<Figure[]> {
  const { raw, snapshot } = stage
  const touched = () => raw.evaluate(touch)
  const floor = await time(5, () => raw.evaluate(walker), touched)
  const full = await time(5, () => snapshot("interactive=true&maxChars=0"), touched)
  const efficient = await time(15, () => snapshot("mode=efficient"), touched)
  const fitted = await time(15, () => snapshot("maxTokens=2000"), touched)
  return [
    ratio("complete interactive snapshot of 20,000 controls", full, floor, 2.5),
    limit("efficient snapshot of 20,000 controls", efficient, 15),
    limit("snapshot of 20,000 controls in 2,000 tokens", fitted, 15),
  ]
}

const controls = 17

/** Frames in frames of two sites, open and closed shadow roots, a slot, a plain element that takes clicks. */
export async function hidden({ snapshot, act }: Stage): Promise<Figure[]> {
  await act({ kind: "wait", loadState: "load" })
  const reached = Object.keys((await snapshot("interactive=true")).refs).length
  return [
    {
      what: "controls reached in nested frames of two sites, shadow roots, slots and plain elements",
      target: `${controls} of ${controls}`,
      measured: `${reached} of ${controls}`,
      met: reached === controls,
    },
  ]
}

/** Typing, pictures and tabs, on the small page of a form. */
export async function small(stage: Stage): Promise<Figure[]> {
  const { raw, act, bench, targetId, port, url } = stage
  const ref = await bench.refOf("Full name", `?targetId=${targetId}`)
  const words = "Grüße aus Wien"
  const typeFloor = await time(30, () => rawType(raw, words))
  const type = await time(30, () => act({ kind: "type", ref, text: words }))
  const fill = await time(30, () => act({ kind: "fill", fields: [{ ref, value: words }] }))
  // Tabs behind others draw no frames, which would make the floor a matter of luck.
  await bench.call("POST", "/tabs/focus", { targetId })
  const pictureFloor = await time(20, () => rawPicture(raw))
  const picture = await time(20, () => bench.call("POST", "/screenshot", { targetId }))
  const openFloor = await time(15, () => rawOpen(raw, port, url))
  const open = await time(15, async () => {
    const { body } = await bench.call("POST", "/tabs/open", { url })
    await bench.call("DELETE", `/tabs/${body.targetId}`)
  })
  return [
    ratio("type into a field by ref", type, typeFloor, 4),
    ratio("fill a field by ref", fill, typeFloor, 4),
    ratio("picture of the view, as a file", picture, pictureFloor, 1.3),
    ratio("open a tab, load a page, close it", open, openFloor, 1.3),
  ]
}

const travelMs = 400

/** A button that travels for a while each time: clicks must wait for it, and land. */
export async function moving(stage: Stage): Promise<Figure[]> {
  const { raw, act, bench, targetId } = stage
  await bench.call("POST", "/tabs/focus", { targetId })
  const ref = await bench.refOf("Traveller", `?targetId=${targetId}`)
  const late: number[] = []
  let missed = 0
  for (let index = 0; index < 8; index += 1) {
    await raw.evaluate(`travel(${travelMs})`)
    await act({ kind: "click", ref })
    const after = await raw.evaluate("clickedAt - restedAt")
    if (typeof after === "number" && after >= 0) late.push(after)
    else missed += 1
  }
  return [
    {
      what: "click on a moving element",
      target: "waits for it, misses none",
      measured: `${round(median(late))} ms after it stood still; ${missed} of 8 too early or missed`,
      met: missed === 0,
    },
  ]
}
