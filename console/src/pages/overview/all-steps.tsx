import type { Onboarding, OnboardingStep } from '@parley/contract/console/overview'
import { type ReactNode, useId } from 'react'
import { useMedia } from '../../lib/media.ts'
import { useHere } from '../../lib/session.ts'
import { useHandset } from '../../parts/handset.ts'
import { useSenderChoice } from '../../parts/network.queries.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Meter } from '../../ui/figures.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card } from '../../ui/layout.tsx'
import { lazyPart } from '../../ui/lazy.tsx'
import { ExternalLink } from '../../ui/link.tsx'
import styles from './onboarding.module.css'
import { stepTexts, useStepTexts } from './onboarding-steps.ts'

type Step = Onboarding['steps'][number]

const HandsetPanel = lazyPart(
  async () => ({ default: (await import('../../parts/handset-panel.tsx')).HandsetPanel }),
  <div className={styles.handsetSpace} />,
)

interface Props {
  steps: readonly Step[]
  done: number
  next: OnboardingStep | undefined
  open: OnboardingStep | null
  onOpen(step: OnboardingStep | null): void
  actions: ReactNode
}

/** All steps, with the handset next to them. */
export function AllSteps({ steps, done, next, open, onOpen, actions }: Props) {
  return (
    <WithHandset>
      <Card
        title="Get started"
        detail={next ? `${done} of ${steps.length} done` : 'All steps are done'}
        actions={actions}
      >
        <Meter value={done / steps.length} label="Steps completed" />
        <ol className={styles.steps}>
          {steps.map((step) => (
            <StepItem
              key={step.kind}
              step={step}
              isNext={step.kind === next}
              isOpen={step.kind === open}
              onToggle={() => onOpen(step.kind === open ? null : step.kind)}
            />
          ))}
        </ol>
      </Card>
    </WithHandset>
  )
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
