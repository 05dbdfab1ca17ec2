import type { OnboardingStep } from '@parley/contract/console/overview'
import type { ComponentType } from 'react'
import { useHere, useSession } from '../../lib/session.ts'
import { lazyPart } from '../../ui/lazy.tsx'

interface StepText {
  title: string
  detail: string
  action: string
  /** The page to open. */
  to?: (path: (rest: string) => string) => string
  /** The form that opens in the list instead. */
  form?: ComponentType
}

/** An operator connects accounts. Others can only look whether that is done. */
const connectStep = (workspaceId: string): StepText => ({
  title: 'Connect a sender',
  detail: 'Connect a WhatsApp Business account to send from its numbers. The simulator comes with a number.',
  action: 'Connect account',
  to: () => `/operator/apps?workspace=${workspaceId}`,
})

/** The first steps of a workspace. The forms are loaded when they are opened. */
export const stepTexts: Record<OnboardingStep, StepText> = {
  sender: {
    title: 'Connect a sender',
    detail: 'Add a WhatsApp number to send from. The operator connects accounts. The simulator comes with a number.',
    action: 'View senders',
    to: (path) => path('senders'),
  },
  send: {
    title: 'Send a message',
    detail: 'Send a template to a phone. It is done when WhatsApp accepted the message.',
    action: 'Send message',
    form: lazyPart(() => import('./first-steps/send.tsx').then((part) => ({ default: part.SendStep }))),
  },
  receive: {
    title: 'Receive a message',
    detail: 'Write to one of your senders from a phone.',
    action: 'Receive message',
    form: lazyPart(() => import('./first-steps/receive.tsx').then((part) => ({ default: part.ReceiveStep }))),
  },
  reply: {
    title: 'Reply to a message',
    detail: 'For 24 hours after a contact wrote to you, you can send any text.',
    action: 'Reply',
    form: lazyPart(() => import('./first-steps/reply.tsx').then((part) => ({ default: part.ReplyStep }))),
  },
  key: {
    title: 'Create an API key',
    detail: 'Use one key per system. The secret is shown once.',
    action: 'Create key',
    to: (path) => path('keys?new=1'),
  },
  request: {
    title: 'Make your first request',
    detail: 'Run a command in a terminal with your key. This page updates automatically.',
    action: 'Show command',
    form: lazyPart(() => import('./first-steps/request.tsx').then((part) => ({ default: part.RequestStep }))),
  },
  webhook: {
    title: 'Create a webhook',
    detail: 'Receive message statuses and incoming messages as they happen.',
    action: 'Create webhook',
    form: lazyPart(() => import('./first-steps/webhook.tsx').then((part) => ({ default: part.WebhookStep }))),
  },
  delivery: {
    title: 'Verify a webhook',
    detail: 'Send a signed test event. It is done when your endpoint responded with a 2xx status.',
    action: 'Send test event',
    form: lazyPart(() => import('./first-steps/verify.tsx').then((part) => ({ default: part.VerifyStep }))),
  },
  second_factor: {
    title: 'Secure your account',
    detail: 'Add a passkey or an authenticator app, so a stolen password is not enough to sign in.',
    action: 'Set up',
    to: () => '/account',
  },
  teammate: {
    title: 'Invite a teammate',
    detail: 'Admins manage keys and webhooks, developers see the logs, members see messages and orders.',
    action: 'Invite teammate',
    to: (path) => path('team'),
  },
}

/** The texts of a step for this person. */
export function useStepTexts(kind: OnboardingStep | undefined): StepText | undefined {
  const here = useHere()
  const { operator } = useSession().person
  if (kind === undefined) return undefined
  return kind === 'sender' && operator ? connectStep(here.id) : stepTexts[kind]
}
