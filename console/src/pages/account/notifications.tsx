import type { NotificationKind } from '@parley/contract/console/notifications'
import { Switch } from '../../ui/fields.tsx'
import { Section } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/states.tsx'
import { useChangeNotification, useNotifications } from './account.queries.ts'

const labels: Readonly<Record<NotificationKind, { title: string; detail: string }>> = {
  webhook_failing: {
    title: 'A webhook is failing',
    detail: 'Ten attempts in a row have failed. After 20 it is disabled.',
  },
  webhook_disabled: {
    title: 'A webhook was disabled',
    detail: 'After 20 failed attempts in a row. Its events are held.',
  },
  credits_low: { title: 'Credits are low', detail: 'The balance fell to the low-credit warning of the workspace.' },
  key_expiring: { title: 'An API key expires soon', detail: 'A week before. Not for keys that were rotated.' },
  token_expiring: {
    title: 'A WhatsApp access token expires soon',
    detail: 'A week before. Without a new one, the numbers of the account cannot send.',
  },
}

/** Which emails the person gets about their workspaces. */
export function NotificationsSection() {
  const query = useNotifications()
  const change = useChangeNotification()
  return (
    <Section
      title="Email notifications"
      detail="About all of your workspaces, as far as your roles allow you to see it."
    >
      <Loaded query={query} what="Your notifications" lines={3}>
        {({ sends_mail, choices }) => (
          <>
            {choices.map(({ kind, wanted }) => (
              <Switch
                key={kind}
                label={labels[kind].title}
                description={labels[kind].detail}
                checked={wanted}
                onChange={(event) => change.run({ kind, wanted: event.currentTarget.checked })}
              />
            ))}
            {choices.length === 0 && <p className="quiet small">Your role gets no notifications.</p>}
            {!sends_mail && (
              <p className="quiet small">
                This installation sends no emails yet. Your choices apply as soon as its operator sets up a mail server.
              </p>
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}
