// What the composition may use of the service. The commands are in cli.ts.
export { chooseManager } from "./choose.ts"
export type { ServiceManager, ServiceState } from "./contract.ts"
export { type Ready, type RunningGateway, type WaitOptions, waitUntilReady } from "./ready.ts"
export { createRunCommand } from "./run-command.ts"
export { type ServiceParts, startService, stopService } from "./service.ts"
