// The door of the audit log.
export { type Audit, type AuditEntry, type AuditOptions, createAudit } from "./audit.ts"
export type * from "./contract.ts"
