// The door of the CDP layer: a connection with sessions, and the `/json` endpoints.
export * from "./connection.ts"
export * from "./endpoints.ts"
