// A call that was not made because of a cap.
import { AppError } from "../kernel/index.ts"

export class BudgetExceeded extends AppError {
  /** The chat in which an owner was told of it just now, as `channel account chat`; undefined: before, or nowhere. */
  readonly toldAt: string | undefined
  /**
   * Whether an owner has allowed more since then, asked inside the transaction that is to end the run: the run was none
   * yet that could be taken up.
   */
  readonly wasLifted: () => boolean

  constructor(message: string, options: { hint: string; toldAt: string | undefined; wasLifted: () => boolean }) {
    super("budget-exceeded", message, { hint: options.hint })
    this.name = "BudgetExceeded"
    this.toldAt = options.toldAt
    this.wasLifted = options.wasLifted
  }
}
