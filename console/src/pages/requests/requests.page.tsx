import type { LoggedRequest } from '@parley/contract/console/requests'
import { errorCodes } from '@parley/contract/errors'
import { useEffect, useMemo, useState } from 'react'
import { formatShortTime, plural } from '../../lib/format.ts'
import { usePaletteActions } from '../../lib/palette-actions.ts'
import { useHere, useSession } from '../../lib/session.ts'
import { useSearchParam } from '../../lib/url.ts'
import { ListBar } from '../../parts/list-bar.tsx'
import { ListBars } from '../../parts/list-bars.tsx'
import { Button } from '../../ui/button.tsx'
import type { Series } from '../../ui/chart-frame.tsx'
import { timeColumn } from '../../ui/columns.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Switch } from '../../ui/fields.tsx'
import type { Filter } from '../../ui/filter-bar.tsx'
import { PageBody, Row } from '../../ui/layout.tsx'
import { SafeText } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState, Notice } from '../../ui/states.tsx'
import { HttpBadge } from '../../ui/status-badge.tsx'
import { DurationCell, Moment } from '../../ui/time.tsx'
import { RequestDrawer } from './request-drawer.tsx'
import styles from './requests.module.css'
import { type Logged, useKeyChoices, useRequestQuery, useRequests } from './requests.queries.ts'
import { merge, type Tail, useTail } from './tail.ts'

export function RequestsPage() {
  const query = useRequestQuery()
  const [open, setOpen] = useSearchParam('open', { push: true })
  const [live, setLive] = useSearchParam('live')
  const isLive = live === '1'
  const list = useRequests(query)
  const [isHovered, setHovered] = useState(false)
  const isScrolled = useIsScrolled()
  const isPaused = isHovered || isScrolled
  const tail = useTail(query, isLive, isPaused, list)
  const shown = withTail(list, tail)
  const listed = new Set(list.rows?.map(({ id }) => id))
  const isFiltered = Object.keys(query).length > 0
  const toggle = () => setLive(isLive ? null : '1')
  usePaletteActions(
    // biome-ignore lint/correctness/useExhaustiveDependencies: toggle depends on isLive only
    useMemo(() => [{ id: 'live', title: isLive ? 'Stop live updates' : 'Show requests live', run: toggle }], [isLive]),
  )
  return (
    <>
      <PageHeader title="Request log" detail="Every API request, including failed ones." />
      <PageBody>
        <ListBar
          query={query}
          noun={['request']}
          total={{ path: 'requests', topics: isLive ? ['requests'] : [], shown: shown.rows?.length ?? 0 }}
          file="requests.csv"
          search={{
            name: 'q',
            label: 'Search by path, IP address or request ID',
            placeholder: 'Path, IP address or req_…',
          }}
          filters={useRequestFilters()}
        >
          <Row gap={2} wrap={false}>
            {isLive && <span className={`${styles.pulse} ${isPaused ? styles.still : ''}`} aria-hidden="true" />}
            <Switch label={isLive && isPaused ? 'Live (paused)' : 'Live'} checked={isLive} onChange={toggle} />
          </Row>
        </ListBar>
        <ListBars
          label="Requests by result"
          path="requests"
          query={query}
          topics={isLive ? ['requests'] : []}
          noun="requests"
          series={resultSeries}
          results={results}
        />
        {/* biome-ignore lint/a11y/noStaticElementInteractions: hovering pauses the live list, so that rows do not move */}
        <div
          className={styles.tail}
          onMouseEnter={() => setHovered(true)}
          onMouseLeave={() => setHovered(false)}
          onFocus={() => setHovered(true)}
          onBlur={() => setHovered(false)}
        >
          {tail.waiting > 0 && (
            <div className={styles.chip}>
              <Button
                kind="primary"
                size="s"
                icon="arrowUp"
                onClick={() => {
                  tail.release()
                  window.scrollTo({ top: 0 })
                }}
              >
                {plural(tail.waiting, 'new request')}
              </Button>
            </div>
          )}
          <DataTable
            label="Requests"
            list={shown}
            rowKey={(request) => request.id}
            onOpen={(request) => setOpen(request.id)}
            openKey={open}
            columns={columns((id) => tail.isFresh(id) && !listed.has(id))}
            empty={<NoRequests isFiltered={isFiltered} searchedTo={list.searchedTo} onMore={list.loadMore} />}
          />
        </div>
        {list.searchedTo && (list.rows?.length ?? 0) > 0 && <SearchedTo at={list.searchedTo} list={list} />}
      </PageBody>
      <RequestDrawer id={open} onClose={() => setOpen(null)} />
    </>
  )
}

const resultSeries: readonly Series[] = [
  { key: '2xx', title: '2xx', tone: 'accent' },
  { key: '4xx', title: '4xx', tone: 'warn' },
  { key: '429', title: '429', tone: 'note' },
  { key: '5xx', title: '5xx', tone: 'bad' },
]

/** The filter by status that shows a result. */
const results = Object.fromEntries(resultSeries.map(({ key }) => [key, { status: key }]))

const columns = (isFresh: (id: string) => boolean): Column<LoggedRequest>[] => [
  {
    key: 'request',
    title: 'Request',
    cell: ({ id, method, route }) => (
      <>
        {isFresh(id) && <span className={styles.fresh} />}
        <span className={`${styles.path} mono`}>
          <span className={styles.method}>{method}</span>
          <SafeText className="clip">{route}</SafeText>
        </span>
      </>
    ),
  },
  { key: 'status', title: 'Status', width: 92, cell: ({ status }) => <HttpBadge status={status} /> },
  {
    key: 'code',
    title: 'Error',
    width: 190,
    hideOn: 'tablet',
    cell: ({ code }) => (code ? <span className="mono small">{code}</span> : <span className="quiet">–</span>),
  },
  {
    key: 'key',
    title: 'Key',
    width: 170,
    hideOn: 'phone',
    cell: ({ key }) => <SafeText className="clip">{key && (key.name ?? 'Unknown key')}</SafeText>,
  },
  {
    key: 'address',
    title: 'IP address',
    width: 150,
    hideOn: 'tablet',
    cell: ({ address }) => <span className="mono small">{address ?? '–'}</span>,
  },
  {
    key: 'duration',
    title: 'Duration',
    width: 90,
    hideOn: 'phone',
    align: 'right',
    cell: ({ duration_us }) => <DurationCell ms={duration_us / 1000} />,
  },
  timeColumn('at', 'Time', ({ at }) => at),
]

function withTail(list: Logged, tail: Tail): Logged {
  if (tail.rows.length === 0 || !list.rows) return list
  const known = new Set(list.rows.map(({ id }) => id))
  const fresh = tail.rows.filter(({ id }) => !known.has(id))
  // A late request belongs below newer ones. Sorting the first 100 rows is enough.
  return { ...list, rows: [...merge(fresh, list.rows.slice(0, 100)), ...list.rows.slice(100)] }
}

function SearchedTo({ at, list }: { at: string; list: Logged }) {
  return (
    <Notice
      action={
        <Button size="s" busy={list.isLoadingMore} onClick={list.loadMore}>
          Search older requests
        </Button>
      }
    >
      Searched back to <Moment at={at} short />, in steps of 30,000 requests. Filter by date or error to search faster.
    </Notice>
  )
}

function NoRequests({
  isFiltered,
  searchedTo,
  onMore,
}: {
  isFiltered: boolean
  searchedTo: string | null
  onMore: () => void
}) {
  const { public_url: publicUrl } = useSession()
  const here = useHere()
  if (searchedTo) {
    return (
      <EmptyState
        icon="search"
        title={`No matches since ${formatShortTime(searchedTo)}`}
        action={
          <Button icon="clock" onClick={onMore}>
            Search older requests
          </Button>
        }
      >
        The latest 30,000 requests were searched. Older ones may match.
      </EmptyState>
    )
  }
  if (isFiltered) {
    return (
      <EmptyState icon="search" title="No matching requests">
        Remove a filter or choose a longer time range. New requests appear within a second.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon="request"
      title="No requests yet"
      action={
        <Button icon="key" onClick={() => location.assign(here.path('keys'))}>
          View API keys
        </Button>
      }
      curl={`curl ${publicUrl}/v1/me -H "Authorization: Bearer $PARLEY_API_KEY"`}
    >
      API requests appear here within a second, including failed ones. Make your first one:
    </EmptyState>
  )
}

function useRequestFilters(): readonly Filter[] {
  const keys = useKeyChoices()
  return useMemo(
    (): Filter[] => [
      {
        kind: 'select',
        name: 'status',
        title: 'Status',
        options: [
          { value: '2xx', title: '2xx: success' },
          { value: '4xx', title: '4xx: client error' },
          { value: '5xx', title: '5xx: server error' },
          ...['400', '401', '403', '404', '429', '500'].map((status) => ({ value: status, title: status })),
        ],
      },
      {
        kind: 'select',
        name: 'code',
        title: 'Error',
        options: [...errorCodes].sort().map((code) => ({ value: code, title: code })),
      },
      {
        kind: 'select',
        name: 'method',
        title: 'Method',
        options: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'].map((value) => ({ value, title: value })),
      },
      { kind: 'select', name: 'key', title: 'Key', options: keys.map(({ id, name }) => ({ value: id, title: name })) },
      { kind: 'text', name: 'route', title: 'Path', placeholder: '/v1/messages' },
      { kind: 'text', name: 'address', title: 'IP address', placeholder: '203.0.113.7' },
      { kind: 'dates', title: 'Time' },
    ],
    [keys],
  )
}

/** Whether the page is scrolled down. */
function useIsScrolled(): boolean {
  const [isScrolled, setScrolled] = useState(false)
  useEffect(() => {
    const update = () => setScrolled(window.scrollY > 240)
    update()
    window.addEventListener('scroll', update, { passive: true })
    return () => window.removeEventListener('scroll', update)
  }, [])
  return isScrolled
}
