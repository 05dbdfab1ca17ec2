import type { Ordering } from '@parley/contract/webhook'
import type { Errors, Form } from '../../lib/use-form.ts'
import { eventChoices } from '../../parts/deliveries/events.ts'
import { CheckboxGroups } from '../../ui/checkbox-groups.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { Stack } from '../../ui/layout.tsx'
import {
  type HeaderDraft,
  HeadersField,
  headersProblem,
  headersToSave,
  OrderingField,
  SendersField,
} from './webhook-options.tsx'

export interface WebhookDraft {
  name: string
  url: string
  events: string[]
  /** Empty: all. */
  senders: string[]
  ordering: Ordering
  headers: HeaderDraft[]
}

export function errorsIn({ name, url, events, headers }: WebhookDraft): Errors<WebhookDraft> {
  return {
    name: name.trim() ? undefined : 'Enter a name, such as the system that receives the events.',
    url: urlProblem(url) ?? undefined,
    events: events.length > 0 ? undefined : 'Choose at least one event.',
    headers: headersProblem(headers),
  }
}

/** What to save. Headers are left out if they are still the saved ones. */
export const toInput =
  (saved: readonly string[]) =>
  ({ name, url, events, senders, ordering, headers: drafts }: WebhookDraft) => {
    const headers = headersToSave(drafts, saved)
    return {
      name: name.trim(),
      url: url.trim(),
      events,
      senders: senders.length === 0 ? null : senders,
      ordering,
      ...(headers && { headers }),
    }
  }

/** Checks the URL's format. The server checks the address it resolves to. */
function urlProblem(text: string): string | null {
  if (!text.trim()) return 'Enter the URL to send events to.'
  if (!URL.canParse(text.trim())) return 'Enter a full URL, such as https://example.com/hooks/parley.'
  const { protocol, username, password } = new URL(text.trim())
  if (protocol !== 'https:' && protocol !== 'http:') return 'The URL must start with https://.'
  if (username || password) return 'The URL must not contain a user name or password.'
  return null
}

const groups = [
  { title: 'Messages', choices: eventChoices.filter(({ value }) => value.startsWith('message.')) },
  { title: 'Forms', choices: eventChoices.filter(({ value }) => value.startsWith('flow.')) },
  { title: 'Account', choices: eventChoices.filter(({ value }) => !/^(message|flow)\./.test(value)) },
]

const presets = [
  { title: 'All', value: eventChoices.map(({ value }) => value) },
  { title: 'Incoming', value: ['message.received', 'flow.completed'] },
  { title: 'Message status', value: ['message.sent', 'message.delivered', 'message.read', 'message.failed'] },
]

/** The fields to create or edit a webhook. */
export function WebhookFields({ form }: { form: Form<WebhookDraft> }) {
  const isPlain = form.values.url.trim().startsWith('http://')
  return (
    <Stack gap={5}>
      <TextInput
        label="Name"
        placeholder="Order service"
        withAsterisk
        {...form.text('name')}
        maxLength={100}
        autoComplete="off"
        data-autofocus
      />
      <TextInput
        label="URL"
        type="url"
        description={
          isPlain
            ? 'HTTP is unencrypted and only works if the operator allows it. Use HTTPS.'
            : 'Parley sends events to this URL. It must respond with a 2xx status within 10 seconds.'
        }
        placeholder="https://example.com/hooks/parley"
        withAsterisk
        {...form.text('url')}
        autoComplete="off"
        spellCheck={false}
      />
      <CheckboxGroups label="Events" groups={groups} presets={presets} {...form.field('events')} />
      <SendersField {...form.field('senders')} />
      <OrderingField {...form.field('ordering')} />
      <HeadersField {...form.field('headers')} />
    </Stack>
  )
}
