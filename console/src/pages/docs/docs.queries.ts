import type { Onboarding } from '@parley/contract/console/overview'
import { useData } from '../../lib/query.ts'
import { useHere, useSession } from '../../lib/session.ts'

/** What examples are filled in with: this installation's address, and the hint of a key of this workspace. */
export function useExampleWords(): { publicUrl: string; keyHint: string | null } {
  const { public_url: publicUrl } = useSession()
  const { data } = useData<Onboarding>(useHere().api('onboarding'))
  return { publicUrl, keyHint: data?.key_hint ?? null }
}
