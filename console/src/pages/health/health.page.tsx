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
import { ApiErrorGroups } from './unknown-keys.tsx'

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
            Look again
          </Button>
        }
      />
      <PageBody>
        {health.error && !health.data && (
          <FailedState what="The checks could not be made" error={health.error} onRetry={refresh} />
        )}
        {!health.data && !health.error && <LoadingLines lines={5} />}
        {health.data && <CheckResult report={health.data} version={version} />}
        <Queues traffic={traffic.data} error={traffic.error} onRetry={() => void traffic.refetch()} />
        {health.data && <Findings findings={health.data.findings} />}
        {traffic.data && <ApiErrorGroups refusals={traffic.data.refusals} />}
      </PageBody>
    </>
  )
}

const words = {
  ok: { title: 'All is well', icon: 'checkCircle' },
  warning: { title: 'Something wants your attention', icon: 'warning' },
  problem: { title: 'Something is wrong', icon: 'crossCircle' },
} as const

function CheckResult({ report, version }: { report: HealthReport; version: string }) {
  const { title, icon } = words[report.verdict]
  const bad = report.findings.filter(({ verdict }) => verdict !== 'ok').length
  return (
    <div className={`${styles.verdict} ${styles[report.verdict]}`} role="status">
      <Icon name={icon} size={22} />
      <div>
        <h2 className={styles.title}>{title}</h2>
        <p className={styles.detail}>
          {bad === 0
            ? `${report.findings.length} checks, none with a complaint.`
            : `${bad} of ${report.findings.length} checks complain.`}{' '}
          Looked <TimeAgo at={report.at} />. Parley {version}.
        </p>
      </div>
    </div>
  )
}
