// The door of the node's own process, which must stay small: it does not load what the gateway's side needs.
export { gatewayAddress, localPort } from "./address.ts"
export { type Command, Connection, type Done } from "./connection.ts"
export { Identity } from "./identity.ts"
export { removeFile } from "../link/disk.ts"
export { takePlace } from "./lock.ts"
export { type FromWorker, type ToWorker, Worker, type WorkerFacts } from "./worker.ts"
