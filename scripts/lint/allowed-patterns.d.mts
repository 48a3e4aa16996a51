export const allowed: readonly { file: string; pattern: string; why: string }[]
