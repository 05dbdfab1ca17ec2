import { Navigate } from '@tanstack/react-router'
import { useFilters } from '../../lib/url.ts'
import { contactPath } from '../../parts/contact-link.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { EmptyState, FailedState, LoadingLines } from '../../ui/states.tsx'
import { useConversationOf } from './conversation.queries.ts'

/** Where the handset links to: finds the workspace of a sender, and opens the page of the contact. */
export function ConversationPage() {
  const { sender = '', phone, user_id } = useFilters('sender', 'phone', 'user_id')
  const { data, error, refetch } = useConversationOf(sender)
  const person = phone ? { phone } : user_id ? { user_id } : null
  if (data?.workspace && person) {
    return <Navigate to={`/w/${encodeURIComponent(data.workspace)}/${contactPath(person)}`} replace />
  }
  return (
    <PageBody>
      {error ? (
        <FailedState what="The conversation could not be opened" error={error} onRetry={() => void refetch()} />
      ) : data || !person ? (
        <EmptyState isPage icon="message" title="Conversation not found">
          None of your workspaces has this sender.
        </EmptyState>
      ) : (
        <LoadingLines lines={6} />
      )}
    </PageBody>
  )
}
