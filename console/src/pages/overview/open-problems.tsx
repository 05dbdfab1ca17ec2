import { useProblems } from '../../parts/problems.queries.ts'
import { ProblemLines } from '../../parts/problems.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card } from '../../ui/layout.tsx'
import { Notice } from '../../ui/states.tsx'
import styles from './overview.module.css'

/** Problems that need attention. Renders nothing while loading. */
export function OpenProblems() {
  const { data, error } = useProblems()
  if (error && !data) return <Notice tone="warn">Open problems could not be loaded.</Notice>
  if (!data) return null
  if (data.data.length === 0) {
    return (
      <p className={styles.calm}>
        <Icon name="checkCircle" /> No open problems
      </p>
    )
  }
  return (
    <Card title="Open problems" flush>
      <ProblemLines problems={data.data} />
    </Card>
  )
}
