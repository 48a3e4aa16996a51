// The process of `svc node run`: the connection to the gateway and nothing else. Browsers and configuration are in a process of
// their own, which is there while there is something to do.
import { randomUUID } from "node:crypto"
import { rmSync } from "node:fs"
import { hostname } from "node:os"
import { dirname, join } from "node:path"
import { safeName } from "../browser/files/safe-name.ts"
import { makeFolder } from "../kernel/index.ts"
import { Connection, Identity, Worker, gatewayAddress, localPort, removeFile, takePlace } from "../nodes/host/index.ts"

export interface NodeHostOptions {
  /** As a person writes it. */
  gateway: string
  allowPlain: boolean
  /** The gateway was set up anew: another key than before is fine, once. */
  newGateway: boolean
  name: string | undefined
  /** Of this program. */
  version: string
  /** Absolute; what the node keeps is below `node` in it. */
  stateFolder: string
  /** The program with the browsers. */
  workerProgram: string
  environment: NodeJS.ProcessEnv
  /** A line for people. */
  say(text: string): void
  /** Aborted to stop it. */
  signal: AbortSignal
  /** The worker's, without anything to do. */
  restMs?: number
}

/** Resolves with the exit code when it was stopped. Throws `bad-request`, `already-running`, `config-invalid`. */
export async function runNodeHost(options: NodeHostOptions): Promise<number> {
  const { say, signal, version } = options
  const address = gatewayAddress(options.gateway, options.allowPlain)
  const folder = join(options.stateFolder, "node")
  makeFolder(folder)
  const letGo = takePlace(folder)
  try {
    const identity = new Identity(folder)
    if (options.newGateway) identity.forget(address)
    const parts = compose(options, { address, folder, identity })
    const stop = () => parts.connection.stop()
    signal.addEventListener("abort", stop, { once: true })
    try {
      await parts.worker.describe()
      if (signal.aborted) return 0
      say(`version ${version}, key ${identity.fingerprint}; connecting to ${address}`)
      const end = await parts.connection.run()
      if (end === "stopped") return 0
      say("another process has connected with the key of this node; this one ends")
      return 1
    } finally {
      signal.removeEventListener("abort", stop)
      await parts.worker.stop()
    }
  } finally {
    letGo()
  }
}

function compose(
  { stateFolder, name, version, workerProgram, environment, say, restMs }: NodeHostOptions,
  { address, folder, identity }: { address: string; folder: string; identity: Identity },
) {
  const incoming = join(folder, "uploads", "lent")
  // What a killed node had taken in.
  rmSync(incoming, { recursive: true, force: true })
  const worker: Worker = new Worker({
    program: workerProgram,
    environment: { ...environment, SVC_STATE_DIR: stateFolder },
    gatewayPort: localPort(address),
    onOffers: () => connection.offersChanged(),
    say,
    ...(restMs === undefined ? {} : { restMs }),
  })
  const connection: Connection = new Connection({
    address,
    identity,
    name: name ?? hostname(),
    version,
    offers: () => worker.offers,
    perform: (command) => worker.perform(command),
    // A name of its own in a folder of its own: a page is shown the name.
    placeFor: (given) => join(incoming, randomUUID(), safeName(given)),
    removeFile,
    say,
  })
  return { worker, connection, incoming: dirname(incoming) }
}
