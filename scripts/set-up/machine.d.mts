export function aptEnvironment(own?: NodeJS.ProcessEnv): NodeJS.ProcessEnv
