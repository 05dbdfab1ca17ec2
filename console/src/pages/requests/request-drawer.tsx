import type { RequestDetail } from '@parley/contract/console/requests'
import { useHere, useSession } from '../../lib/session.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { CopyId } from '../../ui/copy-button.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { KeyValue } from '../../ui/figures.tsx'
import { Card, Row, Stack } from '../../ui/layout.tsx'
import { ExternalLink, PageLink, SafeText } from '../../ui/link.tsx'
import { Loaded, Notice } from '../../ui/states.tsx'
import { HttpBadge } from '../../ui/status-badge.tsx'
import { Duration, Moment } from '../../ui/time.tsx'
import { curlGaps, toCurl } from './curl.ts'
import { InvalidFields, RequestBodies } from './request-bodies.tsx'
import { RequestResults } from './request-results.tsx'
import { useRequest } from './requests.queries.ts'

/** Everything that was logged about a request. */
export function RequestDrawer({ id, onClose }: { id: string | null; onClose: () => void }) {
  const query = useRequest(id)
  const { data } = query
  return (
    <Drawer
      wide
      open={id !== null}
      onClose={onClose}
      title={data ? <span className="mono">{`${data.method} ${data.route}`}</span> : 'Request'}
      badge={data && <HttpBadge status={data.status} />}
    >
      <Loaded query={query} what="This request">
        {(request) => <RequestDetails request={request} />}
      </Loaded>
    </Drawer>
  )
}

function RequestDetails({ request }: { request: RequestDetail }) {
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
        <Notice tone="warn" title="Client closed the connection.">
          The client disconnected before the response was sent. The request may have been processed.
        </Notice>
      )}
      <InvalidFields request={request} />
      <KeyValue
        facts={[
          request.target !== null && { name: 'URL', value: <SafeText className="mono">{request.target}</SafeText> },
          { name: 'Request ID', value: <CopyId id={request.id} /> },
          { name: 'Time', value: <Moment at={request.at} /> },
          { name: 'Duration', value: <Duration ms={request.duration_us / 1000} /> },
          code !== null && { name: 'Error', value: <span className="mono">{code}</span> },
          {
            name: 'Key',
            value: key ? (
              <PageLink to={here.path(`keys?open=${key.id}`)}>
                <SafeText>{key.name ?? key.id}</SafeText>
              </PageLink>
            ) : (
              <span className="quiet">No valid key</span>
            ),
          },
          address !== null && {
            name: 'IP address',
            value: (
              <PageLink to={here.path(`requests?address=${encodeURIComponent(address)}`)} className="link mono">
                {address}
              </PageLink>
            ),
          },
          { name: 'User agent', value: <SafeText>{request.user_agent}</SafeText> },
        ]}
      />
      {code && (
        <Row>
          <ButtonLink to={here.path(`api-errors?open=${code}`)} icon="apiError">
            View in API errors
          </ButtonLink>
          <ExternalLink href={`${publicUrl}/docs/errors#${code}`}>Docs for {code}</ExternalLink>
        </Row>
      )}
      <RequestResults request={request} />
      <RequestBodies request={request} />
      <Card title="Repeat this request" detail={curlGaps(request)}>
        <CodeBlock code={toCurl(publicUrl, request)} language="shell" />
      </Card>
    </Stack>
  )
}
