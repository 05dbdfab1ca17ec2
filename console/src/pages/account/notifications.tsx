import { alertLabels } from '../../parts/alert-labels.ts'
import { Switch } from '../../ui/fields.tsx'
import { Section } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/states.tsx'
import { useChangeNotification, useNotifications } from './account.queries.ts'

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
                label={alertLabels[kind].title}
                description={alertLabels[kind].detail}
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
