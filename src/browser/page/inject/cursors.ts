// Whether a page has cursors of its own. To ask each element for its style is the dearest question of a walk, above all in
// a world that is not the page's; most plain pages need not be asked it. Runs in the page (see agent.ts).
import type { PageAgent } from "./agent.ts"
import type { PageElement } from "./dom.ts"

interface Sheet {
  cssRules: ArrayLike<{ cssText: string }>
}

/** False only where no style sheet, no element and no drawing of the document can say which cursor is shown. */
export function setsCursors(agent: PageAgent): boolean {
  if (!agent.cursors.set) {
    try {
      const sheets = [...Array.from(document.styleSheets), ...Array.from(document.adoptedStyleSheets)]
      const rules = sheets.reduce((sum, sheet) => sum + sheet.cssRules.length, 0)
      // Scripts put rules into sheets that are there already.
      if (rules !== agent.cursors.rules) agent.cursors = { rules, set: sheets.some(saysCursor) }
    } catch {
      // The rules of another site's sheet are not told.
      agent.cursors.set = true
    }
  }
  return agent.cursors.set || document.querySelector('[style*="cursor" i],[cursor]') !== null
}

function saysCursor({ cssRules }: Sheet): boolean {
  for (let index = 0; index < cssRules.length; index += 1)
    if (/cursor|@import/.test(cssRules[index]?.cssText ?? "")) return true
  return false
}

export const cursorsFunctions = [setsCursors, saysCursor]

declare const document: {
  styleSheets: ArrayLike<Sheet>
  adoptedStyleSheets: ArrayLike<Sheet>
  querySelector(selector: string): PageElement | null
}
