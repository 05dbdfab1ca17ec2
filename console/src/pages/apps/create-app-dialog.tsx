import { useState } from 'react'
import { useForm } from '../../lib/use-form.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { PasswordInput, TextInput } from '../../ui/fields.tsx'
import { Row } from '../../ui/layout.tsx'
import styles from './apps.module.css'
import { type OperatedApp, useCreateApp } from './apps.queries.ts'

export function CreateAppDialog({ onClose, onMade }: { onClose: () => void; onMade: (app: OperatedApp) => void }) {
  const [verifyToken] = useState(newToken)
  const form = useForm({
    first: { name: '', app_secret: '', verify_token: verifyToken, graph_url: '' },
    check: ({ name, app_secret, verify_token }) => ({
      name: name.trim() ? undefined : 'Enter a name.',
      app_secret: app_secret.trim() ? undefined : 'Enter the app secret.',
      verify_token: verify_token.trim() ? undefined : 'Enter a verify token.',
    }),
    action: useCreateApp(),
    input: ({ name, app_secret, verify_token, graph_url }) => ({
      name: name.trim(),
      app_secret: app_secret.trim(),
      verify_token: verify_token.trim(),
      ...(graph_url.trim() ? { graph_url: graph_url.trim() } : {}),
    }),
    onDone: onMade,
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Add an app"
      detail="As it is at developers.facebook.com. Secrets are sealed at once and never shown again."
      form={form}
      submit="Add app"
    >
      <TextInput
        label="Name"
        description="For you; Meta does not see it."
        autoComplete="off"
        {...form.text('name')}
        data-autofocus
      />
      <PasswordInput
        label="App secret"
        description="App settings → Basic. With it the network’s webhooks are checked."
        autoComplete="off"
        {...form.text('app_secret')}
      />
      <Row align="flex-end" wrap={false}>
        <TextInput
          className={styles.grow}
          label="Verify token"
          description="Any text; you paste the same one at Meta. Copy it now."
          autoComplete="off"
          spellCheck={false}
          {...form.text('verify_token')}
          classNames={{ input: 'mono' }}
        />
        <CopyButton text={form.values.verify_token}>Copy</CopyButton>
      </Row>
      <TextInput
        label="Graph API"
        description="Leave empty for Meta’s own."
        placeholder="https://graph.facebook.com"
        autoComplete="off"
        spellCheck={false}
        {...form.text('graph_url')}
      />
    </FormDialog>
  )
}

const newToken = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
