import type { ListedMessage } from '@parley/contract/console/messages'
import { plural } from '../lib/format.ts'

const dayMs = 86_400_000

/** What is shown in place of a content that was removed. */
export function removedText({ at, removed }: Pick<ListedMessage, 'at' | 'removed'>): string | null {
  if (removed === null) return null
  return removed.why === 'erasure' ? 'Contact erased' : `Content removed after ${daysBetween(at, removed.at)}`
}

/** The setting may have been another one then, so this says what happened. */
export const daysBetween = (from: string, to: string): string =>
  plural(Math.floor((new Date(to).getTime() - new Date(from).getTime()) / dayMs), 'day')
