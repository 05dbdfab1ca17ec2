import { createRequire } from 'node:module'

/**
 * Loads a CommonJS package when it is first needed, to save its memory until then. Unlike `import()`, it can be called again
 * after it failed, for example because no more files could be opened.
 */
export const load = createRequire(import.meta.url)
