// The only door of the budget: the ledger of what the calls of models took, and its sums in words.
export { describeUsage, formatCount, formatDollars } from "./amounts.ts"
export {
  describeAmounts,
  describeCap,
  describeReached,
  describeNeeded,
  describeUsed,
  mostOf,
  noCapIsNear,
  enoughMore,
  oneMore,
} from "./cap-words.ts"
export type { BudgetConfig } from "./config.ts"
export { BudgetExceeded } from "./exceeded.ts"
export { type Governor, type GovernorOptions, createGovernor } from "./governor.ts"
export * from "./contract.ts"
export { type Ledger, type LedgerParts, createLedger } from "./ledger.ts"
export { type RangeTexts, readRange } from "./range.ts"
