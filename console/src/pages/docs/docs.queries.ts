import type { Onboarding } from '@parley/contract/console/overview'
import { useData } from '../../lib/query.ts'
import { useHere, useSession } from '../../lib/session.ts'

/** The values shown in code examples: the public URL of this installation and the hint of the newest key. */
export function useExampleValues(): { publicUrl: string; keyHint: string | null } {
  const { public_url: publicUrl } = useSession()
  const { data } = useData<Onboarding>(useHere().api('onboarding'))
  return { publicUrl, keyHint: data?.key_hint ?? null }
}
