export function shareNames(files: ReadonlyMap<string, string>): { files: Map<string, string>; names: string[] }
