import { useState } from 'react'
import { useForm } from '../../lib/use-form.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { PasswordInput, TextInput } from '../../ui/fields.tsx'
import { Row } from '../../ui/layout.tsx'
import { GraphUrlField } from './app-fields.tsx'
import styles from './apps.module.css'
import { type OperatedApp, useCreateApp } from './apps.queries.ts'

export function CreateAppDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (app: OperatedApp) => void
}) {
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
    onDone: onCreated,
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Add app"
      detail="Use the values from developers.facebook.com. Secrets are encrypted and never shown again."
      form={form}
      submit="Add app"
    >
      <TextInput
        label="Name"
        description="Only shown in this console."
        autoComplete="off"
        {...form.text('name')}
        data-autofocus
      />
      <PasswordInput
        label="App secret"
        description="From App settings → Basic. Used to verify webhooks from Meta."
        autoComplete="off"
        {...form.text('app_secret')}
      />
      <Row align="flex-end" wrap={false}>
        <TextInput
          className={styles.grow}
          label="Verify token"
          description="You enter the same token at Meta. Copy it now."
          autoComplete="off"
          spellCheck={false}
          {...form.text('verify_token')}
          classNames={{ input: 'mono' }}
        />
        <CopyButton text={form.values.verify_token}>Copy</CopyButton>
      </Row>
      <GraphUrlField {...form.text('graph_url')} />
    </FormDialog>
  )
}

const newToken = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
