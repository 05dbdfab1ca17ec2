import type { ApiErrorDetail, ApiErrorQuery } from '@parley/contract/console/api-errors'
import { formatClock, formatNumber, formatShortDay, formatShortTime, plainWord, plural } from '../../lib/format.ts'
import { useHere, useSession } from '../../lib/session.ts'
import { BarChart } from '../../ui/bar-chart.tsx'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Drawer } from '../../ui/drawer.tsx'
import { Card, Row, Stack } from '../../ui/layout.tsx'
import { ExternalLink, PageLink, SafeText } from '../../ui/link.tsx'
import { Loaded, Notice } from '../../ui/states.tsx'
import { HttpBadge } from '../../ui/status-badge.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import styles from './api-errors.module.css'
import { useApiError, useMute } from './api-errors.queries.ts'
import { remedyOf } from './remedy.ts'

/** One error code: cause and fix, counts by key, IP address and path, and the latest requests. */
export function ApiErrorDrawer({
  code,
  range,
  onClose,
}: {
  code: string | null
  range: ApiErrorQuery
  onClose: () => void
}) {
  const query = useApiError(code, range)
  const { data } = query
  return (
    <Drawer
      wide
      open={code !== null}
      onClose={onClose}
      title={<span className="mono">{code}</span>}
      badge={data?.status && <HttpBadge status={data.status} />}
    >
      <Loaded query={query} what="These errors">
        {(group) => <ErrorDetails group={group} range={range} />}
      </Loaded>
    </Drawer>
  )
}

function ErrorDetails({ group, range }: { group: ApiErrorDetail; range: ApiErrorQuery }) {
  const here = useHere()
  const { public_url: publicUrl } = useSession()
  const mute = useMute(group.code)
  const remedy = remedyOf(group)
  const { code } = group
  const log = (more: string) => here.path(`requests?code=${code}${more}`)
  return (
    <Stack gap={5}>
      <Notice tone={group.status && group.status >= 500 ? 'bad' : 'warn'} title={`${group.title}.`}>
        {group.cause} {group.remedy}
      </Notice>
      <Row>
        {remedy && (
          <ButtonLink kind="primary" to={here.path(remedy.to)} icon="arrowRight">
            {remedy.title}
          </ButtonLink>
        )}
        <ButtonLink to={log(`&from=${group.since}${range.to ? `&to=${range.to}` : ''}`)} icon="request">
          View in request log
        </ButtonLink>
        <Button
          kind="quiet"
          icon={group.muted ? 'eye' : 'eyeOff'}
          busy={mute.isPending}
          onClick={() => mute.run(!group.muted)}
        >
          {group.muted ? 'Unmute' : 'Mute'}
        </Button>
        <ExternalLink href={`${publicUrl}/docs/errors#${code}`}>Docs for {code}</ExternalLink>
      </Row>
      <Card title={`${plural(group.count, 'error')} since ${formatShortTime(group.since)}`}>
        <Trend group={group} />
      </Card>
      {group.fields.length > 0 && (
        <Card title="By field" detail={`Based on the latest ${plural(group.routes_of, 'request')}.`} flush>
          <Counts
            label="Errors by field"
            heading="Field"
            link="Latest"
            rows={group.fields.map(({ field, count, codes, request_id, last_at }) => ({
              id: field,
              what: (
                <>
                  <SafeText className="mono">{field}</SafeText>{' '}
                  <span className="quiet small">{codes.map(plainWord).join(', ')}</span>
                </>
              ),
              count,
              at: last_at,
              to: here.path(`requests?open=${request_id}`),
            }))}
          />
        </Card>
      )}
      <Card
        title="By key"
        {...(code === 'invalid_key' && { detail: 'Keys of yours with the same first and last four characters.' })}
        flush
      >
        <Counts
          label="Errors by key"
          heading="Key"
          rows={group.by_key.map(({ key, count, last_at }) => ({
            id: key?.id ?? 'none',
            what: key ? (
              <PageLink to={here.path(`keys?open=${key.id}`)}>
                <SafeText>{key.name ?? key.id}</SafeText>
              </PageLink>
            ) : (
              <span className="quiet">No valid key</span>
            ),
            count,
            at: last_at,
            to: key ? log(`&key=${key.id}`) : log(''),
          }))}
        />
      </Card>
      <Card title="By IP address" flush>
        <Counts
          label="Errors by IP address"
          heading="IP address"
          rows={group.by_address.map(({ address, count, last_at }) => ({
            id: address ?? 'none',
            what: <span className="mono">{address ?? 'Unknown'}</span>,
            count,
            at: last_at,
            to: log(address ? `&address=${encodeURIComponent(address)}` : ''),
          }))}
        />
      </Card>
      {group.by_route.length > 0 && (
        <Card title="By path" detail={`Based on the latest ${plural(group.routes_of, 'request')}.`} flush>
          <Counts
            label="Errors by path"
            heading="Path"
            rows={group.by_route.map(({ method, route, count }) => ({
              id: `${method} ${route}`,
              what: <SafeText className="mono">{`${method} ${route}`}</SafeText>,
              count,
              at: null,
              to: log(`&method=${method}&route=${encodeURIComponent(route)}`),
            }))}
          />
        </Card>
      )}
      {group.samples.length > 0 && (
        <Card title="Latest requests" flush>
          <Counts
            label="Latest requests with this error"
            heading="Request"
            rows={group.samples.map((request) => ({
              id: request.id,
              what: <SafeText className="mono">{`${request.method} ${request.route}`}</SafeText>,
              count: null,
              at: request.at,
              to: here.path(`requests?open=${request.id}`),
            }))}
          />
        </Card>
      )}
    </Stack>
  )
}

function Trend({ group }: { group: ApiErrorDetail }) {
  const start = new Date(group.since).getTime()
  const stepMs = group.step_hours * 3_600_000
  const bars = group.trend.map((count, index) => {
    const from = new Date(start + index * stepMs)
    const label = group.step_hours < 6 ? formatClock(from) : formatShortDay(from)
    const title = `${formatShortTime(from)} – ${formatShortTime(new Date(from.getTime() + stepMs))}`
    return { key: from.toISOString(), label, title, values: { count } }
  })
  return (
    <BarChart
      label="Errors over time"
      bars={bars}
      series={[{ key: 'count', title: 'Errors', tone: 'warn' }]}
      height={140}
    />
  )
}

interface CountRow {
  id: string
  what: React.ReactNode
  count: number | null
  at: string | null
  to: string
}

interface CountsProps {
  label: string
  heading: string
  /** The title of the link: the log, or the latest request. */
  link?: 'Log' | 'Latest'
  rows: readonly CountRow[]
}

function Counts({ label, heading, link = 'Log', rows }: CountsProps) {
  return (
    <table className={styles.counts} aria-label={label}>
      <thead className={styles.head}>
        <tr>
          <th scope="col">{heading}</th>
          <th scope="col" className={styles.when}>
            Last seen
          </th>
          <th scope="col" className={styles.many}>
            Count
          </th>
          <th scope="col" className={styles.go}>
            {link}
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, what, count, at, to }) => (
          <tr key={id}>
            <td className={styles.what}>{what}</td>
            <td className={styles.when}>{at && <TimeAgo at={at} />}</td>
            <td className={styles.many}>{count !== null && formatNumber(count)}</td>
            <td className={styles.go}>
              <PageLink to={to} aria-label={link === 'Log' ? `${id} in the request log` : `Latest request with ${id}`}>
                {link}
              </PageLink>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
