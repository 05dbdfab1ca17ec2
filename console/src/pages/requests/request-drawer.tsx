import type { RequestDetail } from '@parley/contract/console/requests'
import { useHere, useSession } from '../../lib/session.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyId } from '../../ui/copy-button.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { Card, Row, Stack } from '../../ui/layout.tsx'
import { PageLink, SafeText } from '../../ui/link.tsx'
import { Loaded, Notice } from '../../ui/states.tsx'
import { HttpBadge } from '../../ui/status-badge.tsx'
import { Duration, Moment } from '../../ui/time.tsx'
import { toCurl } from './curl.ts'
import { useRequest } from './requests.queries.ts'

/** One request: everything that was logged of it, and what it led to. */
export function RequestDrawer({ id, onClose }: { id: string | null; onClose: () => void }) {
  const asked = useRequest(id)
  const { data } = asked
  return (
    <Drawer
      open={id !== null}
      onClose={onClose}
      title={data ? <span className="mono">{`${data.method} ${data.route}`}</span> : 'Request'}
      badge={data && <HttpBadge status={data.status} />}
    >
      <Loaded query={asked} what="This request">
        {(request) => <RequestFacts request={request} />}
      </Loaded>
    </Drawer>
  )
}

function RequestFacts({ request }: { request: RequestDetail }) {
  const here = useHere()
  const { public_url: publicUrl } = useSession()
  const { code, key, address } = request
  return (
    <Stack gap={5}>
      {request.error && code && (
        <Notice tone={request.status >= 500 ? 'bad' : 'warn'} title={`${request.error.title}.`}>
          {request.error.cause} {request.error.remedy}
        </Notice>
      )}
      {request.status === 499 && (
        <Notice tone="warn" title="The caller went away.">
          The connection was closed before the answer was written. What was asked for may have been done.
        </Notice>
      )}
      <KeyValue
        facts={[
          { name: 'Request', value: <CopyId id={request.id} /> },
          { name: 'Time', value: <Moment at={request.at} /> },
          { name: 'Took', value: <Duration ms={request.duration_us / 1000} /> },
          code !== null && { name: 'Error', value: <span className="mono">{code}</span> },
          {
            name: 'Key',
            value: key ? (
              <PageLink to={here.path(`keys?open=${key.id}`)}>
                <SafeText>{key.name ?? key.id}</SafeText>
              </PageLink>
            ) : (
              <span className="quiet">None was known</span>
            ),
          },
          address !== null && {
            name: 'From',
            value: (
              <PageLink to={here.path(`requests?address=${encodeURIComponent(address)}`)} className="link mono">
                {address}
              </PageLink>
            ),
          },
          { name: 'User agent', value: <SafeText>{request.user_agent}</SafeText> },
          request.message_id !== null && {
            name: 'Message',
            value: (
              <PageLink to={here.path(`messages/${request.message_id}`)} className="link mono">
                {request.message_id}
              </PageLink>
            ),
          },
        ]}
      />
      {code && (
        <Row>
          <ButtonLink to={here.path(`refusals?open=${code}`)} icon="apiError">
            All refusals like this
          </ButtonLink>
          <ButtonLink to={here.path(`docs/errors#${code}`)} kind="quiet" icon="docs">
            About {code}
          </ButtonLink>
        </Row>
      )}
      <Card title="Make it again" detail="Headers, queries and bodies are not kept, so they cannot leak: fill them in.">
        <CodeBlock code={toCurl(publicUrl, request)} language="shell" />
      </Card>
    </Stack>
  )
}
