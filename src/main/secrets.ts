// Secrets with what they need of the rest: the store, the environment of password managers, and the redactor, which knows
// each from the moment on at which it is taken for a page.
import { type Secrets, createSecrets } from "../secrets/index.ts"
import type { Core } from "./core.ts"

export function composeSecrets({ store, environment, log, redactor }: Core): Secrets {
  return createSecrets({
    store,
    stateFolder: environment.stateFolder,
    variables: environment.variables,
    log: log.child({ part: "secrets" }),
    onReveal: (value) => redactor.add(value.reveal()),
  })
}
