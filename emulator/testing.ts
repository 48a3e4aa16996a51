// For the emulator's own tests: an emulator with one user in a started chat, and calls without a client library.
import { startEmulator, type Emulator, type EmulatorOptions } from "./index.ts"

export interface RawAnswer {
  status: number
  headers: Headers
  body: {
    ok: boolean
    result?: unknown
    description?: string
    error_code?: number
    parameters?: { retry_after?: number; migrate_to_chat_id?: number }
  }
}

export interface Bench extends AsyncDisposable {
  emulator: Emulator
  userId: number
  call(method: string, parameters?: Record<string, unknown>, signal?: AbortSignal): Promise<RawAnswer>
  /** Description of an answer that must not be ok. */
  refusal(method: string, parameters?: Record<string, unknown>): Promise<string>
}

export const onePixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
)

export async function openBench(options: EmulatorOptions = {}): Promise<Bench> {
  const emulator = await startEmulator({ seed: 42, ...options })
  const user = emulator.control.addUser({ id: 1001, firstName: "Ada" })
  emulator.control.sendText({ userId: user.id, text: "/start" })
  const call = async (method: string, parameters = {}, signal?: AbortSignal) => {
    const response = await fetch(`${emulator.url}/bot${emulator.token}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(parameters),
      ...(signal ? { signal } : {}),
    })
    const body = (await response.json()) as RawAnswer["body"]
    return { status: response.status, headers: response.headers, body }
  }
  return {
    emulator,
    userId: user.id,
    call,
    refusal: async (method, parameters) => {
      const { body } = await call(method, parameters)
      if (body.ok) throw new Error(`${method} was accepted`)
      return body.description ?? ""
    },
    [Symbol.asyncDispose]: () => emulator.stop(),
  }
}
