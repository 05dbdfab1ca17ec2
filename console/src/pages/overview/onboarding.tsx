import type { Onboarding, OnboardingStep } from '@parley/contract/console/overview'
import { type ReactNode, useId, useState } from 'react'
import { useMedia } from '../../lib/media.ts'
import { useHere, useSession } from '../../lib/session.ts'
import { remember, remembered } from '../../lib/storage.ts'
import { useHandset } from '../../parts/handset.ts'
import { useSenderChoice } from '../../parts/network.queries.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Meter } from '../../ui/figures.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card } from '../../ui/layout.tsx'
import { lazyPart } from '../../ui/lazy.tsx'
import { ExternalLink } from '../../ui/link.tsx'
import styles from './onboarding.module.css'
import { connectStep, type StepText, stepTexts } from './onboarding-steps.ts'
import { useOnboarding } from './overview.queries.ts'

type Step = Onboarding['steps'][number]

const HandsetPanel = lazyPart(
  async () => ({ default: (await import('../../parts/handset-panel.tsx')).HandsetPanel }),
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
  return (
    <WithHandset>
      <Card
        title="Get started"
        detail={isComplete ? 'All steps are done' : `${done} of ${steps.length} done`}
        actions={
          <>
            {isUnfolded && (
              <Button kind="quiet" size="s" aria-expanded={true} onClick={fold}>
                Fold
              </Button>
            )}
            {hide}
          </>
        }
      >
        <Meter value={done / steps.length} label="Steps completed" />
        <ol className={styles.steps}>
          {steps.map((step) => (
            <StepItem
              key={step.kind}
              step={step}
              isNext={step.kind === next}
              isOpen={step.kind === open}
              onToggle={() => setOpen(step.kind === open ? null : step.kind)}
            />
          ))}
        </ol>
      </Card>
    </WithHandset>
  )
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

function useStepTexts(kind: OnboardingStep | undefined): StepText | undefined {
  const here = useHere()
  const { operator } = useSession().person
  if (kind === undefined) return undefined
  return kind === 'sender' && operator ? connectStep(here.id) : stepTexts[kind]
}

interface StepProps {
  step: Step
  isNext: boolean
  isOpen: boolean
  onToggle: () => void
}

function StepItem({ step: { kind, done }, isNext, isOpen, onToggle }: StepProps) {
  const here = useHere()
  const id = useId()
  const { title, detail, action, to, form: Form } = useStepTexts(kind) ?? stepTexts[kind]
  const look = { size: 's', kind: isNext ? 'primary' : 'secondary' } as const
  return (
    <li aria-current={isNext ? 'step' : undefined} data-done={done || undefined}>
      <span className={styles.mark}>
        <Icon name={done ? 'checkCircle' : 'circle'} />
      </span>
      <div className={styles.words}>
        <strong>
          {title}
          {done && <span className="unseen"> (done)</span>}
        </strong>
        {!done && <span className="quiet">{detail}</span>}
      </div>
      {to && !done && (
        <ButtonLink {...look} to={to(here.path)}>
          {action}
        </ButtonLink>
      )}
      {Form && (!done || isOpen) && (
        <Button
          {...(isOpen ? { size: 's', kind: 'quiet' } : look)}
          aria-expanded={isOpen}
          aria-controls={id}
          onClick={onToggle}
        >
          {isOpen ? 'Close' : action}
        </Button>
      )}
      {Form && (
        <div id={id} className={styles.form} hidden={!isOpen}>
          {isOpen && <Form />}
        </div>
      )}
    </li>
  )
}

/** Shows the handset next to the list, if there is one. A narrow screen has a link to it instead. */
function WithHandset({ children }: { children: ReactNode }) {
  const handset = useHandset()
  const isWide = useMedia('(min-width: 1180px)')
  const senders = useSenderChoice().data?.data
  if (!handset) return children
  if (!isWide) {
    return (
      <>
        {children}
        <p className={styles.handsetLink}>
          <ExternalLink href={handset.url}>Open the handset</ExternalLink>, a simulated phone, to try them.
        </p>
      </>
    )
  }
  const sender = senders?.find(({ status }) => status === 'CONNECTED')?.phone_number ?? null
  return (
    <div className={styles.withHandset}>
      {children}
      {senders ? <HandsetPanel handset={handset} sender={sender} /> : <div className={styles.handsetSpace} />}
    </div>
  )
}
