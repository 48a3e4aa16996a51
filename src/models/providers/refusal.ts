// A response other than 2xx -> what is needed to say why, for every interface alike.
import { ProviderRefusal } from "./contract.ts"

/** Errors say in their first words what is wrong; pages without end do not. */
const maxBytes = 64 * 1024

/** A body that breaks off takes nothing from the status, which is what counts. */
export async function readRefusal(response: Response): Promise<ProviderRefusal> {
  const pieces: Uint8Array[] = []
  let size = 0
  let cause: unknown
  try {
    for await (const piece of response.body ?? []) {
      pieces.push(piece)
      size += piece.byteLength
      if (size >= maxBytes) break
    }
  } catch (error) {
    cause = error
  }
  const body = new TextDecoder().decode(Buffer.concat(pieces).subarray(0, maxBytes))
  return new ProviderRefusal({ status: response.status, headers: Object.fromEntries(response.headers), body, cause })
}
