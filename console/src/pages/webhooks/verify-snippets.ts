import { python, sdk, typescript } from '../../parts/verify-snippets.ts'
import type { Snippet } from '../../ui/code-block.tsx'

/** How a receiver verifies a delivery: with the SDK, and by hand. */
export const verifySnippets: readonly Snippet[] = [
  { title: 'SDK', language: 'js', code: sdk },
  { title: 'TypeScript', language: 'js', code: typescript },
  { title: 'Python', language: 'python', code: python },
]
