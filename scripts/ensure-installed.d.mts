export function ensureInstalled(root: string): Promise<void>
export function isCurrent(root: string, machine?: { platform: string; arch: string }): boolean
export function explainNpm(output: string): string
