import { python, sdk, typescript } from '../../parts/verify-snippets.ts'
import type { Snippet } from '../../ui/code-block.tsx'

/** Code that verifies a delivery, with and without the SDK. */
export const verifySnippets: readonly Snippet[] = [
  { title: 'SDK', language: 'js', code: sdk },
  { title: 'TypeScript', language: 'js', code: typescript },
  { title: 'Python', language: 'python', code: python },
]
