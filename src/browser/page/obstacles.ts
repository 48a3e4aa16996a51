// Why nothing can be done in a tab just now: a person has it, a question of its page is open, those before take too long.
import { AppError } from "../../kernel/index.ts"

/** What everybody is told who would do something in a tab that a person has taken over. */
export function tabTaken(): AppError {
  return new AppError("tab-taken", "A person has this tab in their hands", {
    hint: "Whoever asked for it is told when it is given back: go on without it until then",
  })
}

export function dialogOpen(type: string): AppError {
  return new AppError("dialog-open", `A ${type} dialog is open in this tab`, {
    hint: "Answer it first (POST /hooks/dialog with accept true or false), or close the tab",
  })
}

/** `what` is the operation, as "The click". */
export function notBegun(what: string, timeoutMs: number): AppError {
  return new AppError("timeout", `${what} was not begun: what is before it on this tab has taken ${timeoutMs} ms`, {
    hint: "Nothing was done. Try again, or give a larger timeoutMs",
  })
}
