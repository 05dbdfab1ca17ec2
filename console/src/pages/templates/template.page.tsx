import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { templateBubble } from '../../lib/bubble.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { useChoice, useSearchParam } from '../../lib/url.ts'
import { Button } from '../../ui/button.tsx'
import { ChatBubble, ChatPaper } from '../../ui/chat.tsx'
import { CopyId } from '../../ui/copy-button.tsx'
import { type Back, DetailPage } from '../../ui/detail-page.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { JsonView } from '../../ui/json-view.tsx'
import { Card, PageBody } from '../../ui/layout.tsx'
import { PageLink } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Notice } from '../../ui/states.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { Moment } from '../../ui/time.tsx'
import { RequestCode } from './request-code.tsx'
import { TemplateStatus, wordsOf } from './template-status.tsx'
import styles from './templates.module.css'
import { useTemplate } from './templates.queries.ts'
import { TestSend } from './test-send.tsx'
import { examplesOf, type Values, valuesToSend } from './values.ts'
import { VariableFields } from './variable-fields.tsx'

export function TemplatePage() {
  const here = useHere()
  const { id = '' } = useParams({ strict: false })
  const back = { to: here.path('templates'), title: 'Templates' }
  return (
    <DetailPage query={useTemplate(id)} title="Template" back={back}>
      {(template) => <Workbench key={id} template={template} back={back} />}
    </DetailPage>
  )
}

/** Variables at the left, how it looks at the right, the request below: each changes as one types. */
function Workbench({ template, back }: { template: ConsoleTemplate; back: Back }) {
  const [values, setValues] = useState<Values>(() => examplesOf(template.variables))
  const [tab, setTab] = useChoice('tab', ['use', 'components'])
  const [sends, setSends] = useSearchParam('send')
  const maySend = useCan('messages:send')
  const isApproved = template.status === 'APPROVED'
  const toSend = valuesToSend(template.variables, values)
  return (
    <>
      <PageHeader
        title={<bdi>{template.name}</bdi>}
        name={template.name}
        back={back}
        badge={<TemplateStatus template={template} />}
        actions={
          maySend && (
            <Button kind="primary" icon="message" disabled={!isApproved} onClick={() => setSends('yes')}>
              Send a test
            </Button>
          )
        }
      >
        <Tabs
          label="About this template"
          tabs={[
            { name: 'use', title: 'Use' },
            { name: 'components', title: 'Components' },
          ]}
          value={tab}
          onChange={setTab}
        />
      </PageHeader>
      <PageBody>
        <TabPanel name={tab}>
          {tab === 'components' && (
            <JsonView title="Components, as the network holds them" value={template.components} />
          )}
          {tab === 'use' && (
            <div className={styles.workbench}>
              <div className={styles.main}>
                <StatusNotice template={template} />
                <Card
                  title="Variables"
                  detail={
                    template.variables.length === 0
                      ? undefined
                      : 'What you type shows up in the preview and in the request. Nothing is sent.'
                  }
                >
                  <VariableFields variables={template.variables} values={values} onChange={setValues} />
                </Card>
                <Card title="Send it from your code" detail="The request with the values above.">
                  <RequestCode template={template} variables={toSend} />
                </Card>
              </div>
              <div className={styles.preview}>
                <ChatPaper label="Preview">
                  <ChatBubble bubble={templateBubble(template.components, toSend)} />
                </ChatPaper>
              </div>
              <div className={styles.facts}>
                <TemplateFacts template={template} />
              </div>
            </div>
          )}
        </TabPanel>
      </PageBody>
      {maySend && (
        <TestSend
          open={sends !== null && isApproved}
          onClose={() => setSends(null)}
          template={template}
          variables={toSend}
        />
      )}
    </>
  )
}

function StatusNotice({ template: { status, rejected_reason: reason } }: { template: ConsoleTemplate }) {
  if (status === 'APPROVED') return null
  if (status === 'REJECTED') {
    return (
      <Notice tone="bad" title={reason && reason !== 'NONE' ? wordsOf(reason) : 'Rejected'}>
        The network rejected this template. Change it in Meta’s WhatsApp Manager and submit it again.
      </Notice>
    )
  }
  return (
    <Notice tone="warn" title="It cannot be sent now.">
      Only an approved template can be sent; this one is {status.toLowerCase().replaceAll('_', ' ')}.
    </Notice>
  )
}

function TemplateFacts({ template }: { template: ConsoleTemplate }) {
  const here = useHere()
  return (
    <Card title="Details">
      <KeyValue
        facts={[
          { name: 'Id', value: <CopyId id={template.id} /> },
          { name: 'Language', value: <Chip mono>{template.language}</Chip> },
          { name: 'Category', value: wordsOf(template.category) },
          template.quality !== null && { name: 'Quality', value: wordsOf(template.quality) },
          template.flow && { name: 'Form', value: <span className="mono">{template.flow.flow_id ?? 'unknown'}</span> },
          { name: 'Account', value: <span className="mono">{template.account}</span> },
          { name: 'Changed', value: <Moment at={template.updated_at} /> },
          {
            name: 'Messages',
            value: <PageLink to={here.path(`messages?template=${template.id}`)}>Sent with it</PageLink>,
          },
        ]}
      />
    </Card>
  )
}
