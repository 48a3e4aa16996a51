// The door of terminals: `svc agent`.
export * from "./contract.ts"
export {
  type Terminal,
  type TerminalOptions,
  type TerminalOutlet,
  createTerminal,
  createTerminalOutlet,
} from "./terminal.ts"
