import type { OnboardingStep } from '@parley/contract/console/overview'
import { useState } from 'react'
import { useHere, useSession } from '../../lib/session.ts'
import { remember, remembered } from '../../lib/storage.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { Meter } from '../../ui/figures.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card } from '../../ui/layout.tsx'
import styles from './overview.module.css'
import { useOnboarding } from './overview.queries.ts'

interface StepText {
  title: string
  detail: string
  action: string
  to: (path: (rest: string) => string) => string
}

const stepTexts: Record<OnboardingStep, StepText> = {
  second_factor: {
    title: 'Secure your account',
    detail: 'Add a passkey or an authenticator app, so a stolen password is not enough to sign in.',
    action: 'Set up',
    to: () => '/account',
  },
  sender: {
    title: 'Connect a sender',
    detail: 'Add a WhatsApp number to send from. The operator connects accounts. The simulator comes with a number.',
    action: 'View senders',
    to: (path) => path('senders'),
  },
  key: {
    title: 'Create an API key',
    detail: 'Use one key per system. The secret is shown once.',
    action: 'Create key',
    to: (path) => path('keys?new=1'),
  },
  request: {
    title: 'Make your first request',
    detail: 'Run this in a terminal with your key. This page updates automatically.',
    action: 'Read quickstart',
    to: (path) => path('docs'),
  },
  webhook: {
    title: 'Create a webhook',
    detail: 'Receive message statuses and incoming messages as they happen.',
    action: 'Create webhook',
    to: (path) => path('webhooks?new=1'),
  },
  delivery: {
    title: 'Receive your first delivery',
    detail: 'Send a test event and respond with a 2xx status. The docs have code to verify it.',
    action: 'View webhooks',
    to: (path) => path('webhooks'),
  },
  teammate: {
    title: 'Invite a teammate',
    detail: 'Admins manage keys and webhooks, developers see the logs, members see messages and orders.',
    action: 'Invite teammate',
    to: (path) => path('team'),
  },
}

/** The first steps. The server reports which are done. The list disappears when all are, or when it is hidden. */
export function OnboardingList() {
  const here = useHere()
  const { public_url: publicUrl } = useSession()
  const { data } = useOnboarding()
  const [isHidden, setHidden] = useState(remembered(`onboarding.${here.id}`) === 'hidden')
  const steps = data?.steps.filter(({ done, permitted }) => permitted || done) ?? []
  const done = steps.filter((step) => step.done).length
  if (isHidden || steps.length === 0 || done === steps.length) return null
  const next = steps.find((step) => !step.done)?.kind
  const hide = () => {
    remember(`onboarding.${here.id}`, 'hidden')
    setHidden(true)
  }
  return (
    <Card
      title="Get started"
      detail={`${done} of ${steps.length} done`}
      actions={
        <Button kind="quiet" size="s" onClick={hide}>
          Hide
        </Button>
      }
    >
      <Meter value={done / steps.length} label="Steps completed" />
      <ol className={styles.steps}>
        {steps
          .filter((step) => !step.done)
          .map(({ kind }) => {
            const { title, detail, action, to } = stepTexts[kind]
            const isNext = kind === next
            return (
              <li key={kind} aria-current={isNext ? 'step' : undefined}>
                <span className={styles.mark}>
                  <Icon name="circle" />
                </span>
                <div className={styles.words}>
                  <strong>{title}</strong>
                  <span className="quiet">{detail}</span>
                  {isNext && kind === 'request' && (
                    <CodeBlock
                      language="shell"
                      code={`curl ${publicUrl}/v1/me -H "Authorization: Bearer ${data?.key_hint ?? '$PARLEY_API_KEY'}"`}
                    />
                  )}
                </div>
                <ButtonLink size="s" kind={isNext ? 'primary' : 'secondary'} to={to(here.path)}>
                  {action}
                </ButtonLink>
              </li>
            )
          })}
      </ol>
      {done > 0 && (
        <ul className={styles.done} aria-label="Done">
          {steps
            .filter((step) => step.done)
            .map(({ kind }) => (
              <li key={kind}>
                <Icon name="checkCircle" size={14} /> {stepTexts[kind].title}
              </li>
            ))}
        </ul>
      )}
    </Card>
  )
}
