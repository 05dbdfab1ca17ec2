import type { Errors, Form } from '../../lib/use-form.ts'
import { eventChoices } from '../../parts/deliveries/events.ts'
import { CheckboxGroups } from '../../ui/checkbox-groups.tsx'
import { TextInput } from '../../ui/fields.tsx'
import { Stack } from '../../ui/layout.tsx'

/** What the form of an endpoint holds. */
interface WebhookDraft {
  name: string
  url: string
  events: string[]
}

export function errorsIn({ name, url, events }: WebhookDraft): Errors<WebhookDraft> {
  return {
    name: name.trim() ? undefined : 'Give it a name: the system that listens.',
    url: urlFault(url) ?? undefined,
    events: events.length > 0 ? undefined : 'Choose at least one event.',
  }
}

export const trimmed = ({ name, url, events }: WebhookDraft) => ({ name: name.trim(), url: url.trim(), events })

/** What can be told of a URL without asking the network; the service looks where it leads. */
function urlFault(text: string): string | null {
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

/** The fields of an endpoint, for making and for changing one. */
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
            ? 'Plain http is sent unencrypted, and only where the operator allows it. Use https.'
            : 'Events are posted here. It must answer 2xx within ten seconds.'
        }
        placeholder="https://example.com/hooks/parley"
        withAsterisk
        {...form.text('url')}
        autoComplete="off"
        spellCheck={false}
      />
      <CheckboxGroups label="Events" groups={groups} presets={presets} {...form.field('events')} />
    </Stack>
  )
}
