import type { ConsoleForm } from '@parley/contract/console/forms'
import { useParams } from '@tanstack/react-router'
import { useHere } from '../../lib/session.ts'
import { useChoice } from '../../lib/url.ts'
import { answersOf } from '../../parts/answers.ts'
import { contactFact, contactName, contactOf } from '../../parts/contact-link.tsx'
import { CopyId } from '../../ui/copy-button.tsx'
import { type Back, DetailPage } from '../../ui/detail-page.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { JsonView } from '../../ui/json-view.tsx'
import { Card, PageBody, Sheet } from '../../ui/layout.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { Moment } from '../../ui/time.tsx'
import { Files } from './files.tsx'
import styles from './forms.module.css'
import { useSubmission, useTemplateNames } from './forms.queries.ts'

export function FormPage() {
  const here = useHere()
  const { id = '' } = useParams({ strict: false })
  const back = { to: here.path('forms'), title: 'Form submissions' }
  return (
    <DetailPage query={useSubmission(id)} title="Submission" back={back}>
      {(form) => <Submission key={id} form={form} back={back} />}
    </DetailPage>
  )
}

function Submission({ form, back }: { form: ConsoleForm; back: Back }) {
  const [tab, setTab] = useChoice('tab', ['answers', 'json'])
  const person = contactOf(form)
  const who = form.contact_name ?? (person ? contactName(person) : 'unknown contact')
  return (
    <>
      <PageHeader
        title={
          <>
            Submission from <bdi className="numbers">{who}</bdi>
          </>
        }
        name={`Submission from ${who}`}
        back={back}
      >
        <Tabs
          label="Submission"
          tabs={[
            { name: 'answers', title: 'Answers' },
            { name: 'json', title: 'JSON' },
          ]}
          value={tab}
          onChange={setTab}
        />
      </PageHeader>
      <PageBody>
        <TabPanel name={tab}>
          {tab === 'json' && <JsonView title={form.id} value={form} />}
          {tab === 'answers' && (
            <Sheet facts={<FormDetails form={form} />}>
              <Answers form={form} />
              {form.files.length > 0 && (
                <Card title="Files">
                  <Files form={form} />
                </Card>
              )}
            </Sheet>
          )}
        </TabPanel>
      </PageBody>
    </>
  )
}

function Answers({ form }: { form: ConsoleForm }) {
  const answers = answersOf(form.response).filter(({ isFiles }) => !isFiles)
  return (
    <Card title="Answers" flush>
      {answers.length === 0 ? (
        <p className="quiet" style={{ padding: '0 16px 16px', margin: 0 }}>
          {form.content_removed_at === null ? (
            'The form was submitted without answers.'
          ) : (
            <>
              The answers and files were removed on <Moment at={form.content_removed_at} />, because of their age or
              because the contact was erased.
            </>
          )}
        </p>
      ) : (
        <table className={styles.answers} aria-label="Answers">
          <tbody>
            {answers.map(({ name, text }) => (
              <tr key={name}>
                <th scope="row">
                  <bdi>{name}</bdi>
                </th>
                <td>
                  <SafeText>{text}</SafeText>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Card>
  )
}

function FormDetails({ form }: { form: ConsoleForm }) {
  const here = useHere()
  const names = useTemplateNames()
  return (
    <Card title="Details">
      <KeyValue
        facts={[
          { name: 'ID', value: <CopyId id={form.id} /> },
          contactFact(contactOf(form)),
          { name: 'Submitted', value: <Moment at={form.received_at} /> },
          {
            name: 'Message',
            value: <PageLink to={here.path(`messages/${form.message_id}`)}>View message</PageLink>,
          },
          form.source_message_id !== null && {
            name: 'Sent with',
            value: <PageLink to={here.path(`messages/${form.source_message_id}`)}>View original message</PageLink>,
          },
          form.template_id !== null && {
            name: 'Template',
            value: (
              <PageLink to={here.path(`templates/${form.template_id}`)}>
                <bdi>{names.get(form.template_id) ?? 'View template'}</bdi>
              </PageLink>
            ),
          },
          form.flow_id !== null && { name: 'Form ID', value: <CopyId id={form.flow_id} /> },
          form.flow_token !== null && { name: 'Token', value: <SafeText className="mono">{form.flow_token}</SafeText> },
        ]}
      />
    </Card>
  )
}
