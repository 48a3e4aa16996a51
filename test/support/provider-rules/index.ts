// What real providers refuse, written from their published rules: the judge of every request in tests.
export { checkRequest, wireNameOf } from "./check.ts"
export { providerNames, type CheckedRequest, type ProviderName, type Refusal, type WireName } from "./contract.ts"
export { geminiModel } from "./gemini.ts"
export { createIssued, itemId, type Issued, type IssuedPart, type IssuedReply } from "./issued.ts"
