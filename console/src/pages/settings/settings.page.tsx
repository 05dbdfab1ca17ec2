import { plural } from '../../lib/format.ts'
import { useHere } from '../../lib/session.ts'
import { CopyId } from '../../ui/copy-button.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { PageBody, Section } from '../../ui/layout.tsx'
import { PageLink } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Moment } from '../../ui/time.tsx'
import { Erasures } from './erasures.tsx'
import { LowBalanceForm } from './low-balance.tsx'
import { NameForm } from './name.tsx'
import { RequestInspectorSwitch } from './request-inspector.tsx'
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
              <Section title="Workspace" detail="The name is only shown in this console.">
                <NameForm settings={settings} />
                <KeyValue
                  facts={[
                    { name: 'ID', value: <CopyId id={settings.id} /> },
                    { name: 'Created', value: <Moment at={settings.created_at} /> },
                  ]}
                />
              </Section>
              <Section title="Security" detail="What members need to open this workspace.">
                <SecondFactorSwitch settings={settings} />
              </Section>
              <Section
                title="Credits"
                detail={
                  <>
                    Without credits, sending fails. See <PageLink to={here.path('credits')}>Credits</PageLink>.
                  </>
                }
              >
                <LowBalanceForm settings={settings} />
              </Section>
              <Section
                title="Request inspector"
                detail={
                  <>
                    Request and response bodies in the <PageLink to={here.path('requests')}>request log</PageLink>.
                  </>
                }
              >
                <RequestInspectorSwitch settings={settings} />
              </Section>
              <Section title="Retention" detail="How long logs and files are stored.">
                <KeyValue
                  facts={[
                    { name: 'Retention period', value: plural(settings.retention_days, 'day') },
                    {
                      name: 'Contents of messages',
                      value:
                        settings.content_retention_days === null
                          ? 'Kept'
                          : plural(settings.content_retention_days, 'day'),
                    },
                  ]}
                />
                <p className="quiet">
                  After the retention period, files, events, delivery attempts, API errors and the request log are
                  permanently deleted. Messages, orders, credits and the audit log are kept
                  {settings.content_retention_days !== null &&
                    '; texts, media and form values are removed from messages after their own period'}
                  . The operator sets both periods for all workspaces.
                </p>
              </Section>
              <Section title="Erased contacts" detail="Admins erase a contact from the page of one of their messages.">
                <Erasures />
              </Section>
              <Section title="Leave workspace" detail="Workspaces cannot be deleted. The operator can suspend them.">
                <p>
                  Leave this workspace on the <PageLink to={here.path('team')}>Team</PageLink> page. The last admin
                  cannot leave.
                </p>
              </Section>
            </div>
          )}
        </Loaded>
      </PageBody>
    </>
  )
}
