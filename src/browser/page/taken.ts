// What everybody is told who would do something in a tab that a person has taken over.
import { AppError } from "../../kernel/index.ts"

export function tabTaken(): AppError {
  return new AppError("tab-taken", "A person has this tab in their hands", {
    hint: "Whoever asked for it is told when it is given back: go on without it until then",
  })
}
