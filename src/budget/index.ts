// The only door of the budget: the ledger of what the calls of models took, and its sums in words.
export { describeUsage } from "./amounts.ts"
export * from "./contract.ts"
export { type Ledger, type LedgerParts, createLedger } from "./ledger.ts"
export { type RangeTexts, readRange } from "./range.ts"
