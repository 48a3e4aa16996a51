// What a link needs of a WebSocket: the gateway's side has one of the library, the node's side a small one of its own.
export interface MessageSocket {
  /** 1 while it is open, 2 while it closes. */
  readonly readyState: number
  /** Bytes that were given to it and that the other side has not taken. */
  readonly bufferedAmount: number
  send(data: string | Buffer): void
  ping(): void
  close(): void
  terminate(): void
  on(event: "message", listener: (data: Buffer, isBinary: boolean) => void): unknown
  on(event: "ping" | "pong" | "close" | "error", listener: () => void): unknown
  off(event: "message", listener: (data: Buffer, isBinary: boolean) => void): unknown
  off(event: "close", listener: () => void): unknown
}

export const socketStates = { open: 1, closing: 2, closed: 3 } as const
