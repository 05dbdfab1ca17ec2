import { useHere } from '../lib/session.ts'
import { useProblems } from '../parts/problems.queries.ts'
import { ProblemLines } from '../parts/problems.tsx'
import { Icon } from '../ui/icon.tsx'
import { PageLink } from '../ui/link.tsx'
import { Loaded } from '../ui/states.tsx'
import styles from './bell.module.css'

/** The open problems of the workspace, with a link to each, and to the alerts. */
export function BellPanel() {
  const here = useHere()
  return (
    <>
      <h2 className={styles.title}>Needs attention</h2>
      <div className={styles.list}>
        <Loaded query={useProblems()} what="The open problems" lines={3}>
          {({ data }) =>
            data.length === 0 ? (
              <p className={styles.calm}>
                <Icon name="checkCircle" /> No open problems
              </p>
            ) : (
              <ProblemLines problems={data} />
            )
          }
        </Loaded>
      </div>
      <p className={styles.foot}>
        <PageLink to={here.path('alerts')}>Alerts and emails</PageLink>
      </p>
    </>
  )
}
