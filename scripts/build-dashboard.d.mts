export function buildDashboard(output: string): Promise<void>
