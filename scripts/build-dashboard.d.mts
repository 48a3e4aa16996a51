export function buildDashboard(output: string): Promise<void>
export const ownNames: readonly string[]
export function closedComponents(codes: readonly string[]): ReadonlySet<string>
export function calledComponents(codes: readonly string[]): ReadonlySet<string>
export function arrows(code: string, called?: ReadonlySet<string>): string
export function shorten(code: string, components?: ReadonlySet<string>, called?: ReadonlySet<string>): string
