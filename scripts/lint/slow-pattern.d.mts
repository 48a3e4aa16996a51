export function slowness(source: string, flags: string): string | undefined
