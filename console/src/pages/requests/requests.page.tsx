import type { LoggedRequest } from '@parley/contract/console/requests'
import { errorCodes } from '@parley/contract/errors'
import { useEffect, useMemo, useState } from 'react'
import { formatShortTime } from '../../lib/format.ts'
import { usePaletteActions } from '../../lib/palette-actions.ts'
import { useHere, useSession } from '../../lib/session.ts'
import { useSearchParam } from '../../lib/url.ts'
import { ExportButton } from '../../parts/export-button.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { Switch } from '../../ui/fields.tsx'
import { type Filter, FilterBar } from '../../ui/filter-bar.tsx'
import { PageBody, Row } from '../../ui/layout.tsx'
import { SafeText } from '../../ui/link.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { EmptyState, Notice } from '../../ui/states.tsx'
import { HttpBadge } from '../../ui/status-badge.tsx'
import { DurationCell, TimeAgo } from '../../ui/time.tsx'
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
  const tail = useTail(query, isLive && !list.isLoading, isPaused, list.newestCursor)
  const listed = new Set(list.rows?.map(({ id }) => id))
  const isFiltered = Object.keys(query).length > 0
  const toggle = () => setLive(isLive ? null : '1')
  usePaletteActions(
    // biome-ignore lint/correctness/useExhaustiveDependencies: toggling depends on nothing but whether it is live
    useMemo(() => [{ id: 'live', title: isLive ? 'Stop the live log' : 'Follow the log live', run: toggle }], [isLive]),
  )
  return (
    <>
      <PageHeader
        title="Request log"
        detail="Every request to the API, refused ones included."
        actions={<ExportButton file="requests.csv" query={query} />}
      />
      <PageBody>
        <FilterBar
          search={{ name: 'q', label: 'Search by path, address or request id', placeholder: 'Path, address or req_…' }}
          filters={useRequestFilters()}
        >
          <Row gap={2} wrap={false}>
            {isLive && <span className={`${styles.pulse} ${isPaused ? styles.still : ''}`} aria-hidden="true" />}
            <Switch label={isLive && isPaused ? 'Live, paused' : 'Live'} checked={isLive} onChange={toggle} />
          </Row>
        </FilterBar>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: resting on the rows only keeps them from moving */}
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
                {tail.waiting} new
              </Button>
            </div>
          )}
          <DataTable
            label="Requests"
            list={withTail(list, tail)}
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
    cell: ({ key }) => <SafeText className="clip">{key && (key.name ?? 'unknown')}</SafeText>,
  },
  {
    key: 'address',
    title: 'From',
    width: 150,
    hideOn: 'tablet',
    cell: ({ address }) => <span className="mono small">{address ?? '–'}</span>,
  },
  {
    key: 'duration',
    title: 'Took',
    width: 90,
    hideOn: 'phone',
    align: 'right',
    cell: ({ duration_us }) => <DurationCell ms={duration_us / 1000} />,
  },
  { key: 'at', title: 'Time', width: 120, align: 'right', cell: ({ at }) => <TimeAgo at={at} /> },
]

function withTail(list: Logged, tail: Tail): Logged {
  if (tail.rows.length === 0 || !list.rows) return list
  const known = new Set(list.rows.map(({ id }) => id))
  const fresh = tail.rows.filter(({ id }) => !known.has(id))
  // One that came in late belongs below what was there; only the head has to be put in order.
  return { ...list, rows: [...merge(fresh, list.rows.slice(0, 100)), ...list.rows.slice(100)] }
}

function SearchedTo({ at, list }: { at: string; list: Logged }) {
  return (
    <Notice
      action={
        <Button size="s" busy={list.isLoadingMore} onClick={list.loadMore}>
          Look further back
        </Button>
      }
    >
      Looked back to {formatShortTime(at)}. This filter is answered in stretches of 30,000 requests; a date range or an
      error narrows it.
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
        title={`Nothing since ${formatShortTime(searchedTo)}`}
        action={
          <Button icon="clock" onClick={onMore}>
            Look further back
          </Button>
        }
      >
        This filter is answered in stretches of 30,000 requests, and none of the latest fits. There may be older ones.
      </EmptyState>
    )
  }
  if (isFiltered) {
    return (
      <EmptyState icon="search" title="No request fits">
        Take a filter away, or choose a longer time. A request is in the log within a second.
      </EmptyState>
    )
  }
  return (
    <EmptyState
      icon="request"
      title="No requests yet"
      action={
        <Button icon="key" onClick={() => location.assign(here.path('keys'))}>
          Go to API keys
        </Button>
      }
      curl={`curl ${publicUrl}/v1/me -H "Authorization: Bearer $PARLEY_KEY"`}
    >
      Every call to the API is listed here within a second, refused ones included.
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
          { value: '2xx', title: '2xx: went well' },
          { value: '4xx', title: '4xx: refused' },
          { value: '5xx', title: '5xx: failed' },
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
      { kind: 'text', name: 'address', title: 'Address', placeholder: '203.0.113.7' },
      { kind: 'dates', title: 'Time' },
    ],
    [keys],
  )
}

/** Whether the reader has left the top of the page. */
function useIsScrolled(): boolean {
  const [isScrolled, setScrolled] = useState(false)
  useEffect(() => {
    const look = () => setScrolled(window.scrollY > 240)
    look()
    window.addEventListener('scroll', look, { passive: true })
    return () => window.removeEventListener('scroll', look)
  }, [])
  return isScrolled
}
