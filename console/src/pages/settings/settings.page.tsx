import { plural } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { CopyId } from '../../ui/copy-button.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { PageBody, Section } from '../../ui/layout.tsx'
import { PageLink } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Moment } from '../../ui/time.tsx'
import { LowBalanceForm } from './low-balance.tsx'
import { NameForm } from './name.tsx'
import { SecondFactorSwitch } from './second-factor.tsx'
import { useSettings } from './settings.queries.ts'

export function SettingsPage() {
  const here = useHere()
  return (
    <>
      <PageHeader title="Settings" />
      <PageBody narrow>
        <Loaded query={useSettings()} what="The settings">
          {(settings) => (
            <div>
              <Section title="Workspace" detail="Its name is shown in the console only; the network does not see it.">
                <NameForm settings={settings} />
                <KeyValue
                  facts={[
                    { name: 'Id', value: <CopyId id={settings.id} /> },
                    { name: 'Created', value: <Moment at={settings.created_at} /> },
                  ]}
                />
              </Section>
              <Section title="Access" detail="What people need in order to get in.">
                <SecondFactorSwitch settings={settings} />
              </Section>
              <Section
                title="Credits"
                detail={
                  <>
                    Without credits, messages are refused. See <PageLink to={here.path('credits')}>Credits</PageLink>.
                  </>
                }
              >
                <LowBalanceForm settings={settings} />
              </Section>
              <Section title="Retention" detail="How long what has happened is kept.">
                <KeyValue facts={[{ name: 'Kept for', value: plural(settings.retention_days, 'day') }]} />
                <p className="quiet">
                  After that, files, events, delivery attempts, refusals and the request log are deleted for good.
                  Messages, orders, credits and the audit log stay. Whoever operates this installation sets it, for all
                  workspaces at once.
                </p>
              </Section>
              <Section
                title="Leaving"
                detail="A workspace is not deleted; whoever operates this installation can suspend it."
              >
                <p>
                  To leave this workspace yourself, go to <PageLink to={here.path('team')}>Team</PageLink>. Its last
                  admin has to stay.
                </p>
              </Section>
            </div>
          )}
        </Loaded>
      </PageBody>
    </>
  )
}
