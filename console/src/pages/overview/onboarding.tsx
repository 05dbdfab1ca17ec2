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

interface Words {
  title: string
  detail: string
  action: string
  to: (path: (rest: string) => string) => string
}

const words: Record<OnboardingStep, Words> = {
  second_factor: {
    title: 'Secure your account',
    detail: 'Add a passkey or an authenticator app, so that a password alone opens nothing.',
    action: 'Set it up',
    to: () => '/account',
  },
  sender: {
    title: 'Connect a sender',
    detail: 'A WhatsApp number to send from. The operator connects accounts; the simulator brings a number of its own.',
    action: 'See senders',
    to: (path) => path('senders'),
  },
  key: {
    title: 'Create an API key',
    detail: 'One for each system that calls. Its secret is shown once.',
    action: 'Create a key',
    to: (path) => path('keys?new=1'),
  },
  request: {
    title: 'Make the first request',
    detail: 'Run this in a terminal with your key. The page notices by itself.',
    action: 'Quickstart',
    to: (path) => path('docs'),
  },
  webhook: {
    title: 'Add a webhook',
    detail: 'So that you hear of statuses and incoming messages as they happen.',
    action: 'Add a webhook',
    to: (path) => path('webhooks'),
  },
  delivery: {
    title: 'Take a first delivery',
    detail: 'Send a test event and answer it with a 2xx. The docs have the code that verifies it.',
    action: 'Send a test event',
    to: (path) => path('webhooks'),
  },
  teammate: {
    title: 'Invite a teammate',
    detail: 'Admins manage keys and webhooks, developers read the logs, members see messages and orders.',
    action: 'Invite',
    to: (path) => path('team'),
  },
}

/** The first steps. Each ticks itself; the list goes when all are done, or when somebody hides it. */
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
      title="Get going"
      detail={`${done} of ${steps.length} done`}
      actions={
        <Button kind="quiet" size="s" onClick={hide}>
          Hide
        </Button>
      }
    >
      <Meter value={done / steps.length} label="First steps taken" />
      <ol className={styles.steps}>
        {steps
          .filter((step) => !step.done)
          .map(({ kind }) => {
            const { title, detail, action, to } = words[kind]
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
                      code={`curl ${publicUrl}/v1/me -H "Authorization: Bearer ${data?.key_hint ?? '$PARLEY_KEY'}"`}
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
                <Icon name="checkCircle" size={14} /> {words[kind].title}
              </li>
            ))}
        </ul>
      )}
    </Card>
  )
}
