import type { ApiError } from '../../lib/api.ts'
import { eventChoices } from '../../parts/deliveries/events.ts'
import { CheckboxGroups } from '../../ui/checkbox-groups.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { Stack } from '../../ui/layout.tsx'

/** What the form of an endpoint holds. */
export interface WebhookDraft {
  name: string
  url: string
  events: string[]
}

export type WebhookFaults = Partial<Record<'name' | 'url' | 'events' | 'form', string | undefined>>

export function faultsOf({ name, url, events }: WebhookDraft): WebhookFaults {
  const faults: WebhookFaults = {}
  if (!name.trim()) faults.name = 'Give it a name: the system that listens.'
  const wrong = urlFault(url)
  if (wrong) faults.url = wrong
  if (events.length === 0) faults.events = 'Choose at least one event.'
  return faults
}

export const faultsFrom = (error: ApiError): WebhookFaults => ({
  name: error.faultOf('name'),
  url: error.faultOf('url'),
  events: error.faultOf('events'),
})

/** What can be told of a URL without asking the network; the service looks where it leads. */
export function urlFault(text: string): string | null {
  if (!text.trim()) return 'Enter the URL that events are posted to.'
  if (!URL.canParse(text.trim())) return 'Enter a whole URL, such as https://example.com/hooks/parley.'
  const { protocol, username, password } = new URL(text.trim())
  if (protocol !== 'https:' && protocol !== 'http:') return 'The URL must begin with https://.'
  if (username || password) return 'The URL must not hold a user name or password.'
  return null
}

const groups = [
  { title: 'Messages', choices: eventChoices.filter(({ value }) => value.startsWith('message.')) },
  { title: 'Forms', choices: eventChoices.filter(({ value }) => value.startsWith('flow.')) },
]

const presets = [
  { title: 'Everything', value: eventChoices.map(({ value }) => value) },
  { title: 'What people write', value: ['message.received', 'flow.completed'] },
  { title: 'Message status', value: ['message.sent', 'message.delivered', 'message.read', 'message.failed'] },
]

interface WebhookFieldsProps {
  draft: WebhookDraft
  faults: WebhookFaults
  onChange: (draft: WebhookDraft) => void
  /** The first field takes the focus. */
  focus?: boolean
}

/** The fields of an endpoint, for making and for changing one. */
export function WebhookFields({ draft, faults, onChange, focus = false }: WebhookFieldsProps) {
  const set = (change: Partial<WebhookDraft>) => onChange({ ...draft, ...change })
  const isPlain = draft.url.trim().startsWith('http://')
  return (
    <Stack gap={5}>
      <TextInput
        label="Name"
        placeholder="Order service"
        withAsterisk
        value={draft.name}
        error={faults.name}
        maxLength={100}
        autoComplete="off"
        {...(focus ? { 'data-autofocus': true } : {})}
        onChange={(event) => set({ name: event.currentTarget.value })}
      />
      <TextInput
        label="URL"
        type="url"
        description={
          isPlain
            ? 'Plain http is sent unencrypted, and only where the operator allows it. Use https.'
            : 'Events are posted here. It must answer 2xx within ten seconds.'
        }
        placeholder="https://example.com/hooks/parley"
        withAsterisk
        value={draft.url}
        error={faults.url}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => set({ url: event.currentTarget.value })}
      />
      <CheckboxGroups
        label="Events"
        groups={groups}
        presets={presets}
        value={draft.events}
        error={faults.events ?? null}
        onChange={(events) => set({ events })}
      />
    </Stack>
  )
}
