// The boundary round untrusted text: an id that is random per message makes it impossible to close from inside;
// look-alikes of the boundary and of chat templates are neutralised as a second layer.
import { type Ids, codesOf } from "../kernel/index.ts"
import { fold } from "./boundary/fold.ts"
import { removeHidden } from "./boundary/hidden.ts"
import { findMarks } from "./boundary/marks.ts"

export interface Untrusted {
  /** What it is: `webhook`, `web page`, `event`, ... one of ours, never foreign. */
  source: string
  /** Foreign words about the text (a name, a subject); shown as one JSON line inside. */
  about?: Record<string, string> | undefined
  text: string
}

export function wrapUntrusted(ids: Ids, content: Untrusted): string {
  const id = ids.token(9)
  const about =
    content.about && Object.keys(content.about).length > 0 ? `${neutralize(JSON.stringify(content.about))}\n` : ""
  return `<untrusted-content id="${id}" source="${content.source}">\n${about}${neutralize(content.text)}\n</untrusted-content id="${id}">`
}

const removed = "[removed]"
/** What a mark begins with, and what may look like it; all else is as it seems. */
const worthReading = /[<[&\u0080-\uffff]/

/**
 * The text with everything that imitates a boundary or a chat template replaced, and without what only a model can
 * read. What stands next to each other is replaced once. Takes time in proportion to the text, whatever it holds.
 */
export function neutralize(foreign: string): string {
  if (!worthReading.test(foreign)) return foreign
  const text = removeHidden(foreign)
  const units = codesOf(text)
  return findMarks(fold(units)).replaceIn(text, units, removed)
}
