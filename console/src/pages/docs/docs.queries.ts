import type { Onboarding } from '@parley/contract/console/overview'
import { useQuery } from '@tanstack/react-query'
import { api } from '../../lib/api.ts'
import { useHere, useSession } from '../../lib/session.ts'

/** What examples are filled in with: this installation's address, and the hint of a key of this workspace. */
export function useExampleWords(): { publicUrl: string; keyHint: string | null } {
  const { public_url: publicUrl } = useSession()
  const path = useHere().api('onboarding')
  const { data } = useQuery({ queryKey: [path], queryFn: ({ signal }) => api<Onboarding>(path, { signal }) })
  return { publicUrl, keyHint: data?.key_hint ?? null }
}
