// Ends what a test has started, all of it, though one of the ends rejects: what stays open keeps the process of the test
// alive, so that a fault would hang it instead of failing it.
import type { TestContext } from "node:test"

/** One after another; rejects with what went wrong once nothing is left to end. */
export async function endAll(ends: Iterable<() => unknown>): Promise<void> {
  const faults: unknown[] = []
  for (const end of ends) {
    try {
      await end()
    } catch (error) {
      faults.push(error)
    }
  }
  if (faults.length > 1) throw new AggregateError(faults, faults.map(String).join("\n"))
  if (faults.length === 1) throw faults[0]
}

/** Ends with the test. The runner runs no further end after one that rejects, so that is told behind all of them. */
export function endWith(context: Pick<TestContext, "after">, end: () => unknown): void {
  context.after(async () => {
    try {
      await end()
    } catch (error) {
      context.after(() => {
        throw error
      })
    }
  })
}
