// The one program of ours inside a box: carries connections from the box's own loopback to the proxy's Unix socket, since no
// browser speaks to such a socket itself. It runs as text in a Node of its own and uses nothing from outside.

export const guardSocket = "/run/svc/guard.sock"
export const nodePath = "/run/svc/node"

/** The text that Node is given in the box. */
export function forwardProgram(port: number): string {
  return `(${forward})(${port}, ${JSON.stringify(guardSocket)})`
}

function forward(port: number, socketPath: string): void {
  const net = process.getBuiltinModule("node:net")
  const server = net.createServer({ allowHalfOpen: true }, (client) => {
    const onward = net.connect({ path: socketPath, allowHalfOpen: true })
    client.pipe(onward)
    onward.pipe(client)
    for (const [one, other] of [
      [client, onward],
      [onward, client],
    ] as const) {
      one.on("error", () => other.destroy())
      one.on("close", () => other.destroy())
    }
  })
  // Who waits for this line begins then.
  server.listen(port, "127.0.0.1", () => process.stdout.write("listens\n"))
}
