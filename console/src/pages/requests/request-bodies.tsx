import { redactionRule, type StoredBody, storedBodyMax } from '@parley/contract/console/inspector'
import type { RequestDetail } from '@parley/contract/console/requests'
import { serviceNow } from '../../lib/clock.ts'
import { formatNumber, plural } from '../../lib/format.ts'
import { useCan, useHere } from '../../lib/session.ts'
import type { FieldMark } from '../../ui/json-marks.ts'
import { JsonView } from '../../ui/json-view.tsx'
import { Card, Stack } from '../../ui/layout.tsx'
import { PageLink } from '../../ui/link.tsx'
import { Notice } from '../../ui/states.tsx'
import styles from './requests.module.css'

/** The fields that were wrong. */
export function InvalidFields({ request: { field_errors: errors } }: { request: RequestDetail }) {
  if (errors.length === 0) return null
  return (
    <Card title={errors.length === 1 ? 'Invalid field' : 'Invalid fields'}>
      <ul className={styles.fields}>
        {errors.map(({ param, code, message }) => (
          <li key={`${param} ${code}`}>
            <bdi className={`${styles.field} mono`}>{param}</bdi>
            <bdi>{message}</bdi>
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** The bodies as far as they are stored, and why not if they are not. */
export function RequestBodies({ request }: { request: RequestDetail }) {
  const { field_errors: errors, request_body: sent, response_body: received } = request
  const marks = errors.map(({ param, code, message }) => ({ param, message, isMissing: code === 'missing' }))
  return (
    <Stack gap={4}>
      {sent && <Body title="Request body" body={sent} marks={marks} />}
      {received && <Body title="Response body" body={received} />}
      {request.has_bodies ? <p className="quiet small">{redactionRule}</p> : <NotStored request={request} />}
    </Stack>
  )
}

function Body({ title, body: { text, state }, marks }: { title: string; body: StoredBody; marks?: FieldMark[] }) {
  if (text === null) return <Notice title={`${title} not stored.`}>{reasons[state]}</Notice>
  return (
    <Stack gap={2}>
      <JsonView title={title} value={text} openDepth={4} {...(marks && { marks })} />
      {state === 'truncated' && (
        <p className="quiet small">Truncated: at most {formatNumber(storedBodyMax)} characters are stored.</p>
      )}
    </Stack>
  )
}

const reasons: Readonly<Record<StoredBody['state'], string>> = {
  stored: '',
  truncated: '',
  file: 'Files are never stored here.',
  unread: 'The request failed before its body was read, or the body is not JSON.',
  too_large: 'It is too large to be redacted.',
}

function NotStored({ request: { inspector_on: isOn, stored_days: days, at } }: { request: RequestDetail }) {
  const here = useHere()
  const mayChange = useCan('settings:manage')
  if (serviceNow() - Date.parse(at) > days * 86_400_000) {
    return <p className="quiet small">Bodies and error responses are stored for {plural(days, 'day')}.</p>
  }
  if (isOn) {
    return (
      <p className="quiet small">
        The bodies of this request are not stored: the request inspector was off, or the workspace had stored as much as
        it may in a minute.
      </p>
    )
  }
  return (
    <Notice
      title="Bodies are not stored."
      action={
        mayChange && (
          <PageLink to={here.path('settings')} className="link alone">
            Turn on in Settings
          </PageLink>
        )
      }
    >
      The request inspector stores them, redacted, for {plural(days, 'day')}.
      {!mayChange && ' An admin can turn it on in Settings.'}
    </Notice>
  )
}
