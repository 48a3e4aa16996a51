// What the control API answers when it was used wrongly, or when waiting led to nothing.

export type ControlErrorCode = "invalid-request" | "not-found" | "not-possible" | "timeout" | "unauthorized"

const statuses: Record<ControlErrorCode, number> = {
  "invalid-request": 400,
  unauthorized: 401,
  "not-found": 404,
  timeout: 408,
  "not-possible": 409,
}

export class ControlError extends Error {
  readonly code: ControlErrorCode

  constructor(code: ControlErrorCode, message: string) {
    super(message)
    this.name = "ControlError"
    this.code = code
  }

  get status(): number {
    return statuses[this.code]
  }
}
