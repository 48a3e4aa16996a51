// The only door of the memory.
export type * from "./contract.ts"
export { type Memory, type Recalled, createMemory } from "./memory.ts"
export { mainNote } from "./names.ts"
export { type MemoryToolOptions, createSearchTool, createWriteTool, memoryToolNames } from "./tool.ts"
