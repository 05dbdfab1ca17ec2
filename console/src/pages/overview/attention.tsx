import type { Problem } from '@parley/contract/console/overview'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useProblems } from '../../parts/problems.queries.ts'
import { ProblemLine, ProblemList } from '../../parts/problems.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { SafeText } from '../../ui/link.tsx'
import { Notice } from '../../ui/states.tsx'
import styles from './attention.module.css'
import { attentionLines, keyOf } from './attention-lines.ts'

/** More would push the figures down. */
const maxLines = 3

/** What is wrong now, each with its remedy. Rendered once the problems are loaded, or could not be. */
export function Attention() {
  const { data, error } = useProblems()
  if (error && !data) return <Notice tone="warn">Open problems could not be loaded.</Notice>
  return data ? <Lines current={data.data} /> : null
}

function Lines({ current }: { current: readonly Problem[] }) {
  const [shown, setShown] = useState(current)
  const [isWhole, setWhole] = useState(false)
  const { lines, added } = attentionLines(shown, current)
  const open = lines.filter(({ isResolved }) => !isResolved).length
  const visible = isWhole ? lines : lines.slice(0, maxLines)
  return (
    <section className={lines.length > 0 ? styles.card : undefined} aria-label="Needs attention">
      <div className={styles.head} role="status">
        {added.length > 0 ? (
          <>
            <span className={styles.warn}>
              <Icon name="warning" />
            </span>
            <span className={styles.words}>
              New: <SafeText>{added[0]?.title}</SafeText>
              {added.length > 1 && ` and ${added.length - 1} more`}
            </span>
            <Button size="s" onClick={() => setShown(current)}>
              Show
            </Button>
          </>
        ) : open > 0 ? (
          <>
            <h2 className={styles.title}>{plural(open, 'problem needs', 'problems need')} your attention</h2>
            {lines.length > maxLines && (
              <Button size="s" kind="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
                {isWhole ? 'Show fewer' : `Show all ${lines.length}`}
              </Button>
            )}
          </>
        ) : (
          <span className={styles.calm}>
            <Icon name="checkCircle" /> Nothing needs your attention
          </span>
        )}
      </div>
      {visible.length > 0 && (
        <ProblemList>
          {visible.map(({ problem, isResolved }) => (
            <ProblemLine key={keyOf(problem)} problem={problem} isResolved={isResolved} withRemedy />
          ))}
        </ProblemList>
      )}
    </section>
  )
}
