export declare function problemOfImport(file: string, source: string): string | undefined
