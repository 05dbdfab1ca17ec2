import { plural } from '../../lib/format.ts'
import { useSession } from '../../lib/session.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { PageBody } from '../../ui/layout.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { FailedState, LoadingLines } from '../../ui/states.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import { Findings } from './findings.tsx'
import styles from './health.module.css'
import { type HealthReport, useHealth, useTraffic } from './health.queries.ts'
import { Queues } from './queues.tsx'
import { UnauthenticatedRequests } from './unauthenticated-requests.tsx'

export function HealthPage() {
  const { version } = useSession()
  const health = useHealth()
  const traffic = useTraffic()
  const refresh = () => void Promise.all([health.refetch(), traffic.refetch()])
  return (
    <>
      <PageHeader
        title="Health"
        actions={
          <Button icon="retry" busy={health.isFetching} onClick={refresh}>
            Run checks
          </Button>
        }
      />
      <PageBody>
        {health.error && !health.data && (
          <FailedState what="The checks could not be run" error={health.error} onRetry={refresh} />
        )}
        {!health.data && !health.error && <LoadingLines lines={5} />}
        {health.data && <CheckResult report={health.data} version={version} />}
        <Queues traffic={traffic.data} error={traffic.error} onRetry={() => void traffic.refetch()} />
        {health.data && <Findings findings={health.data.findings} />}
        {traffic.data && <UnauthenticatedRequests errors={traffic.data.refusals} />}
      </PageBody>
    </>
  )
}

const verdicts = {
  ok: { title: 'All checks passed', icon: 'checkCircle' },
  warning: { title: 'Needs attention', icon: 'warning' },
  problem: { title: 'Problems found', icon: 'crossCircle' },
} as const

function CheckResult({ report, version }: { report: HealthReport; version: string }) {
  const { title, icon } = verdicts[report.verdict]
  const bad = report.findings.filter(({ verdict }) => verdict !== 'ok').length
  return (
    <div className={`${styles.verdict} ${styles[report.verdict]}`} role="status">
      <Icon name={icon} size={22} />
      <div>
        <h2 className={styles.title}>{title}</h2>
        <p className={styles.detail}>
          {bad === 0
            ? `${plural(report.findings.length, 'check')} passed.`
            : `${bad} of ${plural(report.findings.length, 'check')} did not pass.`}{' '}
          Last run <TimeAgo at={report.at} />. Parley {version}.
        </p>
      </div>
    </div>
  )
}
