import type { ConsoleTemplate } from '@parley/contract/console/templates'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { templateBubble } from '../../lib/bubble.ts'
import { askToDiscard, useLeaveGuard } from '../../lib/leave-guard.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { useChoice, useSearchParam } from '../../lib/url.ts'
import { Quality } from '../../parts/quality.tsx'
import { examplesOf, type Values, valuesToSend } from '../../parts/templates/values.ts'
import { VariableFields } from '../../parts/templates/variable-fields.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { ChatBubble, ChatPaper } from '../../ui/chat.tsx'
import { CopyId } from '../../ui/copy-button.tsx'
import { type Back, DetailPage } from '../../ui/detail-page.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { JsonView } from '../../ui/json-view.tsx'
import { Card, PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Notice } from '../../ui/states.tsx'
import { Chip } from '../../ui/status-badge.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { Moment } from '../../ui/time.tsx'
import { TemplateStats } from './counts.tsx'
import { RejectionCard } from './rejection.tsx'
import { RequestCode } from './request-code.tsx'
import { TemplateMenu, useEditLink } from './template-actions.tsx'
import { readable, TemplateStatus } from './template-status.tsx'
import styles from './templates.module.css'
import { useTemplate } from './templates.queries.ts'
import { TestSend } from './test-send.tsx'

export function TemplatePage() {
  const here = useHere()
  const { id = '' } = useParams({ strict: false })
  const back = { to: here.path('templates'), title: 'Templates' }
  return (
    <DetailPage query={useTemplate(id)} title="Template" back={back}>
      {(template) => <TemplateView key={id} template={template} back={back} />}
    </DetailPage>
  )
}

/** Variables on the left, preview on the right, request below. All update as you type. */
function TemplateView({ template, back }: { template: ConsoleTemplate; back: Back }) {
  const [examples] = useState<Values>(() => examplesOf(template.variables))
  const [values, setValues] = useState(examples)
  useLeaveGuard(values !== examples, ({ isSamePage }) => isSamePage || askToDiscard())
  const [tab, setTab] = useChoice('tab', ['use', 'components'])
  const [dialog, setDialog] = useSearchParam('send')
  const maySend = useCan('messages:send')
  const canSend = template.status === 'APPROVED' && template.sendable
  const toSend = valuesToSend(template.variables, values)
  const edit = useEditLink(template)
  return (
    <>
      <PageHeader
        title={<bdi>{template.name}</bdi>}
        name={template.name}
        back={back}
        badge={<TemplateStatus template={template} />}
        actions={
          <>
            {edit && template.status !== 'REJECTED' && (
              <ButtonLink to={edit} icon="edit">
                Edit
              </ButtonLink>
            )}
            {maySend && (
              <Button kind="primary" icon="message" disabled={!canSend} onClick={() => setDialog('yes')}>
                Send test message
              </Button>
            )}
            <TemplateMenu template={template} />
          </>
        }
      >
        <Tabs
          label="Template"
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
          {tab === 'components' && <JsonView title="Components" value={template.components} />}
          {tab === 'use' && (
            <div className={styles.workbench}>
              <div className={styles.main}>
                <StatusNotice template={template} />
                <RejectionCard template={template} edit={edit} />
                <TemplateStats id={template.id} />
                <Card
                  title="Variables"
                  detail={
                    template.variables.length === 0
                      ? undefined
                      : 'Values appear in the preview and the request. Nothing is sent.'
                  }
                >
                  <VariableFields variables={template.variables} values={values} onChange={setValues} />
                </Card>
                {template.sendable && (
                  <Card
                    title="API request"
                    detail={
                      template.variables.length === 0
                        ? 'Sends this template.'
                        : 'Sends this template with the values above.'
                    }
                  >
                    <RequestCode template={template} variables={toSend} />
                  </Card>
                )}
              </div>
              <div className={styles.preview}>
                <ChatPaper label="Preview">
                  <ChatBubble bubble={templateBubble(template.components, toSend)} />
                </ChatPaper>
              </div>
              <div className={styles.facts}>
                <TemplateDetails template={template} />
              </div>
            </div>
          )}
        </TabPanel>
      </PageBody>
      {maySend && (
        <TestSend
          open={dialog !== null && canSend}
          onClose={() => setDialog(null)}
          template={template}
          variables={toSend}
        />
      )}
    </>
  )
}

function StatusNotice({ template }: { template: ConsoleTemplate }) {
  const { status, not_sendable_reason: notSendable } = template
  if (notSendable !== null) {
    return (
      <Notice tone="warn" title="This template cannot be sent from here.">
        {notSendable} Use another template, or send it with a different tool.
      </Notice>
    )
  }
  // A rejection has its own card.
  if (status === 'APPROVED' || status === 'REJECTED') return null
  if (status === 'PENDING') {
    return (
      <Notice tone="note" title="WhatsApp reviews this template.">
        It can be sent once it is approved. This page shows the decision as soon as WhatsApp makes it.
      </Notice>
    )
  }
  return (
    <Notice tone="warn" title="This template cannot be sent.">
      Only approved templates can be sent. Its status is {readable(status).toLowerCase()}.
    </Notice>
  )
}

function TemplateDetails({ template }: { template: ConsoleTemplate }) {
  return (
    <Card title="Details">
      <KeyValue
        facts={[
          { name: 'ID', value: <CopyId id={template.id} /> },
          { name: 'Language', value: <Chip mono>{template.language}</Chip> },
          { name: 'Category', value: readable(template.category) },
          template.quality !== null && { name: 'Quality', value: <Quality rating={template.quality} /> },
          template.flow && {
            name: 'Form ID',
            value: <span className="mono">{template.flow.flow_id ?? 'unknown'}</span>,
          },
          { name: 'Account', value: <span className="mono">{template.account}</span> },
          { name: 'Last changed', value: <Moment at={template.updated_at} /> },
        ]}
      />
    </Card>
  )
}
