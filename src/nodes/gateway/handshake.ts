// The gateway's side of the handshake: hello -> our challenge with our proof -> its proof. Both sides sign fresh numbers of
// both, so that neither can be played back, and a stranger who listens on the gateway's port learns nothing that opens it.
import type { WebSocket } from "ws"
import type { Ids } from "../../kernel/index.ts"
import { type KeyPair, isPublicKey, isSignedBy } from "../keys.ts"
import { stepsOf } from "../link/steps.ts"
import { type Offers, type Refused, nodeIdOf, oldestProtocol, proofText, protocolVersion } from "../protocol.ts"
import { hello, plainName, plainWords, proof } from "./messages.ts"

export interface Known {
  id: string
  key: string
  name: string
  platform: string
  version: string
  offers: Offers
}

export type Greeting = { kind: "known"; node: Known } | { kind: "refused"; refusal: Omit<Refused, "type"> }

/** Rejects when the other side goes away or says what makes no sense. */
export async function greet(
  socket: WebSocket,
  { keyPair, ids }: { keyPair: () => Promise<KeyPair>; ids: Ids },
): Promise<Greeting> {
  // Before anything is waited for: who has connected may have said hello by then.
  const steps = stepsOf(socket)
  try {
    const keys = await keyPair()
    const first = hello.safeParse(await steps.next())
    if (!first.success || !isPublicKey(first.data.key)) return refused("protocol", "This is no hello of a node")
    const { protocol, key, nonce, name } = first.data
    const [platform, version] = [plainWords(first.data.platform), plainWords(first.data.version)]
    if (protocol < oldestProtocol) return tooOld(version, protocol)
    const own = { key: keys.publicKey, nonce: ids.token(24) }
    const all = [
      { node: key, gateway: own.key },
      { node: nonce, gateway: own.nonce },
    ] as const
    const spoken = Math.min(protocol, protocolVersion)
    steps.send({ type: "challenge", protocol: spoken, ...own, proof: keys.sign(proofText("gateway", ...all)) })
    const answer = proof.safeParse(await steps.next())
    if (!answer.success) return refused("protocol", "This is no proof of a node")
    if (!isSignedBy(key, proofText("node", ...all), answer.data.proof)) {
      return refused("wrong-proof", "The node has not proved that the key is its own")
    }
    const id = nodeIdOf(key)
    const { offers } = answer.data
    return { kind: "known", node: { id, key, name: plainName(name, id), platform, version, offers } }
  } finally {
    steps.end()
  }
}

function refused(code: Refused["code"], message: string): Greeting {
  return { kind: "refused", refusal: { code, message, final: true } }
}

function tooOld(version: string, protocol: number): Greeting {
  const message = `This node (svc ${version}) speaks protocol ${protocol}; the gateway needs at least ${oldestProtocol}`
  return {
    kind: "refused",
    refusal: {
      code: "node-too-old",
      message,
      hint: "Bring svc on the node to a newer version: svc update",
      final: true,
    },
  }
}
