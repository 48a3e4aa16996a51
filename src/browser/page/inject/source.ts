// The injected functions as one script. They reach a page as the text they have here: in the page they share names
// with each other and nothing with the gateway. The names are asked of the functions, since a bundler may change them.
import { agentFunctions, createAgent, elementOf, nextSuspects } from "./agent.ts"
import { boxesFunctions, placeInside } from "./boxes.ts"
import { catcherFunctions } from "./catcher.ts"
import { changesFunctions, isUnchanged } from "./changes.ts"
import { clickGuardFunctions, clickLanded, disarmClick } from "./click-guard.ts"
import { conditionFunctions, hasText, hasVisible, watchDrag } from "./condition.ts"
import { concealedFields, concealFunctions, concealWords, fillSecret, leavePerson, watchPerson } from "./conceal.ts"
import { cursorsFunctions } from "./cursors.ts"
import { describeElement, describeFunctions } from "./describe.ts"
import { dialFunctions, readDial } from "./dial.ts"
import { boxOf, editElement, editFunctions, heldText, holdsFocus, matchOf } from "./edit.ts"
import { fieldState, focusOn, formFunctions, scrollTo, selectOptions } from "./form.ts"
import { hitFunctions } from "./hit.ts"
import { internalsFunctions, selfNamed, takeInternals } from "./internals.ts"
import { boxesOf, drawLabels, frameBox, labelsFunctions, removeLabels } from "./labels.ts"
import { namesFunctions } from "./names.ts"
import { answerPicker, openPicker, pickersFunctions } from "./pickers.ts"
import { panesFunctions } from "./panes.ts"
import { nextFrame, nextTask, pointThroughFrame, reachElement, reachFunctions } from "./reach.ts"
import { scrollBox, scrollFunctions, scrollRest, showWords } from "./scroll.ts"
import { rolesFunctions } from "./roles.ts"
import { apartFunctions } from "./walk/apart.ts"
import { aroundFunctions } from "./walk/around.ts"
import { besideFunctions } from "./walk/beside.ts"
import { cellsFunctions } from "./walk/cells.ts"
import { ariaHiddenFunctions } from "./walk/aria-hidden.ts"
import { childrenFunctions } from "./walk/children.ts"
import { drawnFunctions } from "./walk/drawn.ts"
import { hintsFunctions } from "./walk/hints.ts"
import { hostsFunctions } from "./walk/hosts.ts"
import { listFunctions } from "./walk/list.ts"
import { specialFunctions } from "./walk/special.ts"
import { stateFunctions } from "./walk/state.ts"
import { targetsFunctions } from "./walk/targets.ts"
import { treeFunctions } from "./walk/tree.ts"
import { valuesFunctions } from "./walk/values.ts"
import { numberOfSelector, walkFunctions, walkPage } from "./walk/walk.ts"

const all = [
  ...agentFunctions,
  ...internalsFunctions,
  ...rolesFunctions,
  ...cursorsFunctions,
  ...namesFunctions,
  ...walkFunctions,
  ...stateFunctions,
  ...hintsFunctions,
  ...cellsFunctions,
  ...childrenFunctions,
  ...targetsFunctions,
  ...drawnFunctions,
  ...hostsFunctions,
  ...specialFunctions,
  ...valuesFunctions,
  ...treeFunctions,
  ...listFunctions,
  ...aroundFunctions,
  ...besideFunctions,
  ...ariaHiddenFunctions,
  ...apartFunctions,
  ...hitFunctions,
  ...panesFunctions,
  ...boxesFunctions,
  ...reachFunctions,
  ...clickGuardFunctions,
  ...editFunctions,
  ...dialFunctions,
  ...catcherFunctions,
  ...concealFunctions,
  ...pickersFunctions,
  ...describeFunctions,
  ...formFunctions,
  ...conditionFunctions,
  ...changesFunctions,
  ...labelsFunctions,
  ...scrollFunctions,
]

/** What a world answers to; each takes one JSON value. */
export type AgentCall =
  | "walk"
  | "reach"
  | "through"
  | "landed"
  | "disarm"
  | "edit"
  | "held"
  | "dial"
  | "box"
  | "boxes"
  | "match"
  | "frameBox"
  | "inside"
  | "frame"
  | "task"
  | "field"
  | "focus"
  | "select"
  | "scroll"
  | "scrollBox"
  | "scrollRest"
  | "showWords"
  | "text"
  | "visible"
  | "watchDrag"
  | "dragBegan"
  | "element"
  | "unchanged"
  | "label"
  | "unlabel"
  | "holder"
  | "suspects"
  | "selfNamed"
  | "internals"
  | "closedRoot"
  | "holdsFocus"
  | "origin"
  | "words"
  | "secret"
  | "concealed"
  | "concealWords"
  | "watchPerson"
  | "leavePerson"
  | "openPicker"
  | "answerPicker"

/** A script that puts the agent under `globalThis[key]`. */
export function agentSource(key: string): string {
  const calls: Record<AgentCall, string> = {
    walk: `(o) => ${walkPage.name}(agent, o)`,
    reach: `(o) => ${reachElement.name}(agent, o.id, o)`,
    through: `(o) => ${pointThroughFrame.name}(agent, o.id, o)`,
    inside: `(o) => ${placeInside.name}(${elementOf.name}(agent, o.id), o)`,
    frame: `() => ${nextFrame.name}()`,
    task: `() => ${nextTask.name}()`,
    disarm: `async () => { const report = ${disarmClick.name}(agent); await ${nextTask.name}(); return report }`,
    landed: `async (o) => { await ${clickLanded.name}(agent, o); await ${nextTask.name}(); return ${disarmClick.name}(agent) }`,
    edit: `(o) => ${editElement.name}(agent, o.id, o)`,
    holdsFocus: `() => ${holdsFocus.name}()`,
    held: `async (o) => { await ${nextTask.name}(); return ${heldText.name}(agent, o.id, o.text) }`,
    dial: `async (o) => { await ${nextTask.name}(); return ${readDial.name}(agent, o.id) }`,
    field: `(o) => ${fieldState.name}(agent, o.id, o.text)`,
    focus: `(o) => ${focusOn.name}(agent, o.id)`,
    select: `(o) => ${selectOptions.name}(agent, o.id, o.values)`,
    scroll: `(o) => ${scrollTo.name}(agent, o.id)`,
    scrollBox: `(o) => ${scrollBox.name}(agent, o)`,
    scrollRest: `(o) => ${scrollRest.name}(o)`,
    showWords: `(o) => ${showWords.name}(o)`,
    text: `(o) => ${hasText.name}(o)`,
    visible: `(o) => ${hasVisible.name}(o)`,
    watchDrag: `() => ${watchDrag.name}(agent)`,
    unchanged: `() => ${isUnchanged.name}(agent)`,
    label: `(o) => ${drawLabels.name}(agent, o)`,
    unlabel: `() => ${removeLabels.name}()`,
    holder: `(o) => ${numberOfSelector.name}(agent, o)`,
    suspects: `(most) => ${nextSuspects.name}(agent, most)`,
    selfNamed: `(most) => ${selfNamed.name}(agent, most)`,
    internals: `(elements, told) => ${takeInternals.name}(agent, elements, told)`,
    closedRoot: `(root) => void agent.closedRoots.set(root.host, root)`,
    element: `(o) => ${elementOf.name}(agent, o)`,
    words: `(o) => ${describeElement.name}(agent, o)`,
    origin: `() => self.origin`,
    secret: `(o) => ${fillSecret.name}(agent, o.id, o)`,
    concealed: `() => ${concealedFields.name}(agent)`,
    concealWords: `(o) => ${concealWords.name}(agent, o)`,
    watchPerson: `() => ${watchPerson.name}(agent)`,
    leavePerson: `() => ${leavePerson.name}(agent)`,
    openPicker: `() => ${openPicker.name}(agent)`,
    answerPicker: `(o) => ${answerPicker.name}(agent, o)`,
    dragBegan: `() => agent.dragBegan`,
    match: `(o) => ${matchOf.name}(agent, o)`,
    frameBox: `(o) => ${frameBox.name}(agent, o)`,
    boxes: `(o) => ${boxesOf.name}(agent, o)`,
    box: `(o) => ${boxOf.name}(agent, o.id)`,
  }
  const members = Object.entries(calls).map(([name, text]) => `${name}: ${text}`)
  return [
    "(() => {",
    ...all.map(String),
    `const agent = ${createAgent.name}()`,
    `globalThis[${JSON.stringify(key)}] = { agent, ${members.join(", ")} }`,
    "})()",
  ].join("\n")
}
