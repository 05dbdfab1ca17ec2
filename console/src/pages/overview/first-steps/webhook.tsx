import type { CreatedWebhook, NewWebhook } from '@parley/contract/console/webhooks'
import { useState } from 'react'
import { useCan, useHere } from '../../../lib/session.ts'
import { useAction } from '../../../lib/use-action.ts'
import { useForm } from '../../../lib/use-form.ts'
import { useHandset } from '../../../parts/handset.ts'
import { sdk } from '../../../parts/verify-snippets.ts'
import { Button } from '../../../ui/button.tsx'
import { CodeBlock } from '../../../ui/code-block.tsx'
import { TextInput } from '../../../ui/fields.tsx'
import { Form } from '../../../ui/form.tsx'
import { PageLink } from '../../../ui/link.tsx'
import { SecretDialog } from '../../../ui/secret-dialog.tsx'
import { Notice } from '../../../ui/states.tsx'
import styles from '../onboarding.module.css'
import { listenCommand } from './listen-command.ts'

const events: NewWebhook['events'] = ['message.received', 'message.sent', 'message.delivered', 'message.failed']

/** Creates a webhook with the usual events. Its page has all other options. */
export function WebhookStep() {
  const here = useHere()
  const isLocal = useHandset() !== null
  const mayManage = useCan('webhooks:manage')
  const [created, setCreated] = useState<CreatedWebhook | null>(null)
  const form = useForm({
    first: { name: 'My service', url: isLocal ? 'http://127.0.0.1:8095' : '' },
    check: ({ name, url }) => ({
      name: name.trim() ? undefined : 'Enter a name, such as the system that receives the events.',
      url: URL.canParse(url.trim()) ? undefined : 'Enter a full URL, such as https://example.com/hooks/parley.',
    }),
    action: useAction((send, webhook: NewWebhook) => send<CreatedWebhook>('POST', here.api('webhooks'), webhook), {
      refetch: [here.api('webhooks'), here.api('onboarding')],
    }),
    input: ({ name, url }): NewWebhook => ({ name: name.trim(), url: url.trim(), events }),
    onDone: setCreated,
  })
  const command = created && listenCommand(created.webhook.url, created.secret)
  if (!mayManage) return <Notice tone="note">Only admins create webhooks.</Notice>
  return (
    <Form form={form} className={styles.fields}>
      <TextInput label="Name" {...form.text('name')} maxLength={100} autoComplete="off" />
      <TextInput
        label="URL"
        type="url"
        description={
          isLocal
            ? 'Your endpoint. Without one, keep this URL: the next step shows a command that receives the events.'
            : 'Parley sends events to this URL. It must respond with a 2xx status within 10 seconds.'
        }
        placeholder="https://example.com/hooks/parley"
        {...form.text('url')}
        autoComplete="off"
        spellCheck={false}
      />
      <div className={styles.result}>
        <Button type="submit" kind="primary" busy={form.isPending}>
          Create webhook
        </Button>
        <PageLink to={here.path('webhooks?new=1')}>More options</PageLink>
      </div>
      {created && (
        <SecretDialog
          onClose={() => {
            form.reset()
            setCreated(null)
          }}
          title="Your new webhook"
          detail="Every delivery is signed with this secret."
          label="Signing secret"
          secret={created.secret}
          variable="PARLEY_WEBHOOK_SECRET"
          lost="It cannot be recovered. If you lose it, rotate the secret."
        >
          <strong>{command ? 'Receive and verify the events on this machine' : 'Verify each delivery'}</strong>
          <CodeBlock language={command ? 'shell' : 'js'} code={command ?? sdk} />
        </SecretDialog>
      )}
    </Form>
  )
}
