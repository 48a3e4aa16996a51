// Which script contexts of a tab are the page's or ours. Content scripts of other extensions run in the same page, in
// contexts with rights that no page has; their contexts are neither told of nor spoken to.

type Json = Record<string, unknown>

export class Contexts {
  readonly #known = new Set<number>()

  has(contextId: number): boolean {
    return this.#known.has(contextId)
  }

  /** One that we asked for. */
  add(contextId: unknown): void {
    if (typeof contextId === "number") this.#known.add(contextId)
  }

  /** Takes note of an event. False for one that is not to be told. */
  take(method: string, params: Json): boolean {
    switch (method) {
      case "Runtime.executionContextCreated": {
        const { id, origin } = (params["context"] ?? {}) as Json
        if (/^[a-z-]*extension:/i.test(String(origin))) return false
        this.add(id)
        return true
      }
      case "Runtime.executionContextDestroyed":
        return this.#known.delete(Number(params["executionContextId"]))
      case "Runtime.executionContextsCleared":
        this.#known.clear()
        return true
      case "Runtime.consoleAPICalled":
        return this.#known.has(Number(params["executionContextId"]))
      case "Runtime.bindingCalled":
        return this.#known.has(Number(params["executionContextId"]))
      case "Runtime.exceptionThrown": {
        const { executionContextId } = (params["exceptionDetails"] ?? {}) as Json
        return executionContextId === undefined || this.#known.has(Number(executionContextId))
      }
      default:
        return true
    }
  }
}
