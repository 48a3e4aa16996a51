// The only door of signature verification.
export { verifySchemes } from "./contract.ts"
export type { VerifyReply, VerifyRequest, VerifyResult, VerifyScheme, VerifySettings } from "./contract.ts"
export { requireUsable as requireUsableVerifySettings, verifySettingsProblem } from "./settings.ts"
export { createVerifier } from "./verifier.ts"
export type { Verifier, VerifierOptions } from "./verifier.ts"
