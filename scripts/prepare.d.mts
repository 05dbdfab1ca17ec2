export function cacheOf(root: string): string
export function bundleOf(root: string): string
export function prepare(root: string, node: string): string
