import type { OnboardingStep } from '@parley/contract/console/overview'
import { type ReactNode, useState } from 'react'
import { useHere } from '../../lib/session.ts'
import { remember, remembered } from '../../lib/storage.ts'
import { useHandset } from '../../parts/handset.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { lazyPart } from '../../ui/lazy.tsx'
import { ExternalLink } from '../../ui/link.tsx'
import styles from './onboarding.module.css'
import { useStepTexts } from './onboarding-steps.ts'
import { useOnboarding } from './overview.queries.ts'

// Most workspaces show one line only.
const AllSteps = lazyPart(
  async () => ({ default: (await import('./all-steps.tsx')).AllSteps }),
  <div className={styles.handsetSpace} />,
)

/**
 * The first steps. In a new workspace, all of them with the handset next to them; else one line with the next one, or that all
 * are done, which unfolds. A person can hide them.
 */
export function OnboardingList({ isNew }: { isNew: boolean }) {
  const here = useHere()
  const { data } = useOnboarding()
  const [isHidden, setHidden] = useState(remembered(`onboarding.${here.id}`) === 'hidden')
  const [isUnfolded, setUnfolded] = useState(false)
  const [open, setOpen] = useState<OnboardingStep | null>(null)
  const steps = data?.steps.filter(({ done, permitted }) => permitted || done) ?? []
  const done = steps.filter((step) => step.done).length
  const isComplete = done === steps.length
  if (isHidden || steps.length === 0) return null
  const next = steps.find((step) => !step.done)?.kind
  const hide = (
    <Button
      kind="quiet"
      size="s"
      onClick={() => {
        remember(`onboarding.${here.id}`, 'hidden')
        setHidden(true)
      }}
    >
      Hide
    </Button>
  )
  const fold = () => {
    setUnfolded(false)
    setOpen(null)
  }
  const unfold = (step: OnboardingStep | null) => {
    setUnfolded(true)
    setOpen(step)
  }
  // The result of the last step stays until it is closed.
  const isWhole = isUnfolded || open !== null || (isNew && !isComplete)
  if (!isWhole) return <FoldedSteps done={done} all={steps.length} next={next} onUnfold={unfold} hide={hide} />
  const actions = (
    <>
      {isUnfolded && (
        <Button kind="quiet" size="s" aria-expanded={true} onClick={fold}>
          Fold
        </Button>
      )}
      {hide}
    </>
  )
  return <AllSteps steps={steps} done={done} next={next} open={open} onOpen={setOpen} actions={actions} />
}

interface FoldedProps {
  done: number
  all: number
  /** Undefined if all are done. */
  next: OnboardingStep | undefined
  onUnfold(step: OnboardingStep | null): void
  hide: ReactNode
}

/** One line: what to do next, or that all is done. */
function FoldedSteps({ done, all, next, onUnfold, hide }: FoldedProps) {
  const { path } = useHere()
  const texts = useStepTexts(next)
  const handset = useHandset()
  return (
    <section className={styles.folded} aria-label="Get started">
      <span className={styles.mark} data-complete={!next || undefined}>
        <Icon name={next ? 'circle' : 'checkCircle'} />
      </span>
      <span className={styles.foldedWords}>
        {texts ? (
          <>
            <strong>{texts.title}</strong> <span className="quiet">is next. {`${done} of ${all} steps are done.`}</span>
          </>
        ) : (
          <span className="quiet">The set-up is complete: all {all} steps are done.</span>
        )}
      </span>
      {texts && next && texts.to && (
        <ButtonLink size="s" to={texts.to(path)}>
          {texts.action}
        </ButtonLink>
      )}
      {texts && next && !texts.to && (
        <Button size="s" onClick={() => onUnfold(next)}>
          {texts.action}
        </Button>
      )}
      {handset && (
        <ExternalLink href={handset.url} className="link alone">
          Handset
        </ExternalLink>
      )}
      <Button kind="quiet" size="s" aria-expanded={false} onClick={() => onUnfold(null)}>
        Show steps
      </Button>
      {hide}
    </section>
  )
}
