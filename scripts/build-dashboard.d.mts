export function buildDashboard(output: string): Promise<void>
export const ownNames: readonly string[]
export function shorten(code: string): string
