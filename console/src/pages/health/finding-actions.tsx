import type { HealthAction } from '@parley/contract/console/operator'
import { type ReactNode, useState } from 'react'
import { errorMessage } from '../../lib/api.ts'
import { useSession } from '../../lib/session.ts'
import { remedyFor } from '../../parts/sync-remedy.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { SafeText } from '../../ui/link.tsx'
import { Notice } from '../../ui/states.tsx'
import { Duration } from '../../ui/time.tsx'
import styles from './health.module.css'
import { useEnableWebhook, useSyncAccount, useTestResult, useTestWebhook } from './health.queries.ts'

type Of<Kind extends HealthAction['kind']> = Extract<HealthAction, { kind: Kind }>

/** What can be done about a finding: one line for each affected object, with its result below. */
export function FindingActions({ check, actions }: { check: string; actions: readonly HealthAction[] }) {
  const { workspaces } = useSession()
  // The key belongs to a workspace, so only a member can open it.
  const offered = actions.filter(
    (action) => action.kind !== 'change_key' || workspaces.some(({ id }) => id === action.workspace_id),
  )
  if (offered.length === 0) return null
  return (
    <ul className={styles.actions} aria-label={`Actions for ${check}`}>
      {offered.map((action) => (
        <ActionLine key={JSON.stringify({ ...action, enabled: null })} action={action} />
      ))}
    </ul>
  )
}

function ActionLine({ action }: { action: HealthAction }) {
  switch (action.kind) {
    case 'repair_webhook':
      return <RepairWebhook {...action} />
    case 'sync_connection':
      return <SyncAccount {...action} />
    case 'connect_account':
      return (
        <Line name={`Account ${action.waba_id}`}>
          <ButtonLink
            size="s"
            icon="plug"
            to={`/operator/apps?app=${action.app_id}&connect=${encodeURIComponent(action.waba_id)}`}
          >
            Connect account
          </ButtonLink>
        </Line>
      )
    case 'add_credits':
      return (
        <Line name={action.name}>
          <ButtonLink size="s" icon="credit" to={`/operator/workspaces?open=${action.workspace_id}`}>
            Add credits
          </ButtonLink>
        </Line>
      )
    case 'change_key':
      return (
        <Line name={action.name}>
          <ButtonLink size="s" icon="key" to={`/w/${action.workspace_id}/keys?open=${action.id}`}>
            Edit key
          </ButtonLink>
        </Line>
      )
  }
}

function Line({ name, result, children }: { name: string; result?: ReactNode; children: ReactNode }) {
  return (
    <li>
      <span className={styles.affected}>
        <SafeText>{name}</SafeText>
      </span>
      <span className={styles.buttons}>{children}</span>
      <div className={styles.result} role="status">
        {result}
      </div>
    </li>
  )
}

function RepairWebhook({ id, name, enabled }: Of<'repair_webhook'>) {
  const [eventId, setEventId] = useState<string | null>(null)
  const [error, setError] = useState<unknown>(null)
  const test = useTestWebhook(id)
  const enable = useEnableWebhook(id, name)
  const start = () => {
    setError(null)
    setEventId(null)
    test.run(undefined, { onDone: ({ event_id }) => setEventId(event_id), onError: setError })
  }
  const result = error ? (
    <Notice tone="bad">{errorMessage(error)}</Notice>
  ) : (
    eventId && <TestResult key={eventId} id={id} eventId={eventId} />
  )
  return (
    <Line name={name} result={result}>
      <Button size="s" icon="play" busy={test.isPending} onClick={start}>
        Send test event
      </Button>
      {!enabled && (
        <Button
          size="s"
          icon="check"
          busy={enable.isPending}
          onClick={() => enable.run(undefined, { onError: setError })}
        >
          Enable
        </Button>
      )}
    </Line>
  )
}

function TestResult({ id, eventId }: { id: string; eventId: string }) {
  const { data, error } = useTestResult(id, eventId)
  if (error) return <Notice tone="bad">{errorMessage(error)}</Notice>
  if (!data?.attempt) return <Notice tone="note">Sending the test event…</Notice>
  const { status, duration_ms, trouble } = data.attempt
  const response = (
    <>
      {status === null ? 'No response' : `HTTP ${status}`} after <Duration ms={duration_ms} />.
    </>
  )
  return trouble ? (
    <Notice tone="bad" title={trouble.title}>
      {trouble.remedy} {response}
    </Notice>
  ) : (
    <Notice tone="good" title="The endpoint accepted the event.">
      {response}
    </Notice>
  )
}

function SyncAccount({ id, waba_id }: Of<'sync_connection'>) {
  const [fault, setFault] = useState<string | null>(null)
  const sync = useSyncAccount(id, waba_id)
  const start = () => {
    setFault(null)
    sync.run(undefined, {
      onDone: ({ ok, why }) => setFault(ok ? null : `${why ?? 'The sync failed.'} ${remedyFor(why ?? '')}`),
      onError: (error) => setFault(errorMessage(error)),
    })
  }
  return (
    <Line
      name={`Account ${waba_id}`}
      result={
        fault && (
          <Notice tone="bad">
            <SafeText>{fault}</SafeText>
          </Notice>
        )
      }
    >
      <Button size="s" icon="retry" busy={sync.isPending} onClick={start}>
        Sync
      </Button>
    </Line>
  )
}
