import type { ConsoleSender } from '@parley/contract/console/senders'
import { useQuery } from '@tanstack/react-query'
import { api, inWorkspace } from '../../lib/api.ts'
import type { List } from '../../lib/query.ts'
import { useSession } from '../../lib/session.ts'

/** The workspace of the person that has a sender with this phone number. */
export function useConversationOf(sender: string) {
  const { workspaces } = useSession()
  return useQuery({
    queryKey: ['conversation', sender],
    queryFn: async ({ signal }): Promise<{ workspace: string | null }> => {
      for (const { id: workspace } of workspaces) {
        const { data } = await api<List<ConsoleSender>>(inWorkspace(workspace, 'senders'), { signal })
        if (data.some(({ phone_number }) => phone_number === sender)) return { workspace }
      }
      return { workspace: null }
    },
  })
}
