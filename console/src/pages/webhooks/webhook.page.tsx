import type { ConsoleWebhook } from '@parley/contract/console/webhooks'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { formatNumber, formatPercent, plural } from '../../lib/format.ts'
import { useCan, useHere } from '../../lib/session.ts'
import { useChoice } from '../../lib/url.ts'
import { DeliveryList } from '../../parts/deliveries/delivery-list.tsx'
import { Button } from '../../ui/button.tsx'
import { type Back, DetailPage } from '../../ui/detail-page.tsx'
import { Stat, Stats } from '../../ui/figures.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { Menu } from '../../ui/menu.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { TabPanel, Tabs } from '../../ui/tabs.tsx'
import { Duration, TimeAgo } from '../../ui/time.tsx'
import { NewSecretDialog } from './new-secret.tsx'
import { ReplayDialog } from './replay-dialog.tsx'
import { Replays } from './replays.tsx'
import { StagedSecret } from './staged-secret.tsx'
import { TestEventDialog } from './test-event.tsx'
import {
  ActivateDialog,
  CancelRotationDialog,
  DeleteDialog,
  DisableDialog,
  type NewSecret,
  RecoverDialog,
  RotateDialog,
  type WebhookAction,
} from './webhook-actions.tsx'
import { WebhookEvents } from './webhook-events.tsx'
import { WebhookSettings } from './webhook-settings.tsx'
import { WebhookSigning } from './webhook-signing.tsx'
import { WebhookBadge, WebhookState, WorkInProgress } from './webhook-state.tsx'
import { useWebhook } from './webhooks.queries.ts'

const tabs = [
  { name: 'deliveries', title: 'Deliveries' },
  { name: 'events', title: 'Events' },
  { name: 'replays', title: 'Replays' },
  { name: 'settings', title: 'Settings' },
  { name: 'signing', title: 'Signing' },
] as const

export function WebhookPage() {
  const here = useHere()
  const { id = '' } = useParams({ strict: false })
  const back = { to: here.path('webhooks'), title: 'Webhooks' }
  return (
    <DetailPage query={useWebhook(id)} title="Webhook" back={back}>
      {(webhook) => <WebhookView webhook={webhook} back={back} />}
    </DetailPage>
  )
}

function WebhookView({ webhook, back }: { webhook: ConsoleWebhook; back: Back }) {
  const navigate = useNavigate()
  const mayManage = useCan('webhooks:manage')
  const mayTest = useCan('webhooks:test')
  const mayRetry = useCan('deliveries:retry')
  const [tab, setTab] = useChoice('tab', ['deliveries', 'events', 'replays', 'settings', 'signing'])
  const [action, setAction] = useState<WebhookAction | null>(null)
  const [created, setCreated] = useState<NewSecret | null>(null)
  const close = () => setAction(null)
  return (
    <>
      <PageHeader
        title={<bdi>{webhook.name}</bdi>}
        name={webhook.name}
        back={back}
        badge={<WebhookBadge webhook={webhook} />}
        detail={<bdi className="mono small">{webhook.url}</bdi>}
        actions={
          <>
            {mayTest && (
              <Button icon="play" onClick={() => setAction('test')}>
                Send test event
              </Button>
            )}
            <Menu
              label="More actions"
              groups={[
                [
                  mayRetry && {
                    title: 'Retry failed deliveries',
                    icon: 'retry',
                    onSelect: () => setAction('recover'),
                  },
                  mayManage && { title: 'Replay events', icon: 'play', onSelect: () => setAction('replay') },
                  mayManage && { title: 'Rotate signing secret', icon: 'lock', onSelect: () => setAction('rotate') },
                  mayManage &&
                    webhook.enabled && {
                      title: 'Disable webhook',
                      icon: 'pause',
                      onSelect: () => setAction('disable'),
                    },
                ],
                [
                  mayManage && {
                    title: 'Delete webhook',
                    icon: 'trash',
                    danger: true,
                    onSelect: () => setAction('delete'),
                  },
                ],
              ]}
            />
          </>
        }
      >
        <Tabs label="Webhook" tabs={tabs} value={tab} onChange={setTab} />
      </PageHeader>
      <PageBody>
        <WebhookState webhook={webhook} />
        <WorkInProgress webhook={webhook} />
        <StagedSecret webhook={webhook} onAction={setAction} />
        <TabPanel name={tab}>
          {tab === 'deliveries' && (
            <>
              <Figures webhook={webhook} />
              <DeliveryList webhookId={webhook.id} />
            </>
          )}
          {tab === 'events' && <WebhookEvents webhook={webhook} onSettings={() => setTab('settings')} />}
          {tab === 'replays' && <Replays webhook={webhook} onStart={() => setAction('replay')} />}
          {tab === 'settings' && <WebhookSettings key={webhook.id} webhook={webhook} onAction={setAction} />}
          {tab === 'signing' && <WebhookSigning webhook={webhook} onRotate={() => setAction('rotate')} />}
        </TabPanel>
      </PageBody>
      {action === 'test' && <TestEventDialog webhook={webhook} onClose={close} />}
      {action === 'disable' && <DisableDialog webhook={webhook} onClose={close} />}
      {action === 'recover' && <RecoverDialog webhook={webhook} onClose={close} />}
      {action === 'replay' && <ReplayDialog webhook={webhook} onClose={close} onStarted={() => setTab('replays')} />}
      {action === 'rotate' && <RotateDialog webhook={webhook} onClose={close} onCreated={setCreated} />}
      {action === 'delete' && (
        <DeleteDialog
          webhook={webhook}
          onClose={close}
          onDeleted={() => void navigate({ to: back.to, ignoreBlocker: true })}
        />
      )}
      {action === 'activate' && <ActivateDialog webhook={webhook} onClose={close} />}
      {action === 'cancel rotation' && <CancelRotationDialog webhook={webhook} onClose={close} />}
      {created && (
        <NewSecretDialog
          created={created.created}
          replaces={created.isStaged ? 'when activated' : 'now'}
          onClose={() => setCreated(null)}
        />
      )}
    </>
  )
}

function Figures({ webhook }: { webhook: ConsoleWebhook }) {
  const { recent, waiting } = webhook
  return (
    <Stats>
      <Stat
        label="Success rate (24 h)"
        value={recent.attempts === 0 ? '–' : formatPercent(recent.succeeded / recent.attempts)}
        detail={plural(recent.attempts, 'attempt')}
      />
      <Stat
        label="Response time (p95, 24 h)"
        value={<Duration ms={recent.p95_ms} />}
        detail="From request to response"
      />
      <Stat label="Pending" value={plus(waiting)} detail={<PendingDetail webhook={webhook} />} />
      <Stat
        label="Last attempt"
        value={<TimeAgo at={webhook.last_attempt_at} />}
        detail={<LastSuccess webhook={webhook} />}
      />
      {webhook.senders !== null && (
        <Stat
          label="Left out (24 h)"
          value={formatNumber(webhook.left_out)}
          detail="Events of senders that are not chosen"
        />
      )}
    </Stats>
  )
}

const plus = ({ count, more }: { count: number; more: boolean }) => `${formatNumber(count)}${more ? '+' : ''}`

/** How many are held, or how far the deliveries have come. */
function PendingDetail({ webhook: { held, due_since } }: { webhook: ConsoleWebhook }) {
  if (held.count > 0) return `${plus(held)} held`
  if (due_since === null) return 'None held'
  return (
    <>
      Oldest due <TimeAgo at={due_since} />
    </>
  )
}

function LastSuccess({ webhook }: { webhook: ConsoleWebhook }) {
  return (
    <>
      Last success: <TimeAgo at={webhook.last_success_at} none="never" />
    </>
  )
}
