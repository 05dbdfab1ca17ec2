import { type HeaderInput, headersMax } from '@parley/contract/console/webhooks'
import type { Ordering } from '@parley/contract/webhook'
import type { FieldProps } from '../../lib/use-form.ts'
import { senderName, useSenderChoice } from '../../parts/network.queries.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { MultiSelect, PasswordInput, Switch, TextInput } from '../../ui/fields.tsx'
import { Stack } from '../../ui/layout.tsx'
import styles from './webhooks.module.css'

/** A header in the form. An empty value of one that is saved keeps the saved value, which is never shown. */
export interface HeaderDraft {
  key: number
  name: string
  value: string
  isSaved: boolean
}

let keys = 0

export const savedHeaders = (names: readonly string[]): HeaderDraft[] =>
  names.map((name) => ({ key: ++keys, name, value: '', isSaved: true }))

/** All headers for the API; undefined if they are the saved ones, unchanged. */
export function headersToSave(drafts: readonly HeaderDraft[], saved: readonly string[]): HeaderInput[] | undefined {
  const isSame = drafts.length === saved.length && drafts.every(({ isSaved, value }) => isSaved && value === '')
  if (isSame) return undefined
  return drafts.map(({ name, value, isSaved }) => ({
    name: name.trim(),
    value: isSaved && value === '' ? null : value,
  }))
}

export function headersProblem(drafts: readonly HeaderDraft[]): string | undefined {
  const isIncomplete = drafts.some(({ name, value, isSaved }) => !name.trim() || (!isSaved && !value.trim()))
  return isIncomplete ? 'Enter a name and a value for each header, or remove it.' : undefined
}

/** Which senders' events the webhook gets. With one sender there is nothing to choose. */
export function SendersField({ value, error, onChange }: FieldProps<string[]>) {
  const senders = useSenderChoice().data?.data ?? []
  if (senders.length < 2 && value.length === 0) return null
  return (
    <MultiSelect
      label="Senders"
      description="Send only events of these senders. Events that have no sender are always sent."
      placeholder={value.length === 0 ? 'All senders' : ''}
      data={senders.map((sender) => ({ value: sender.id, label: senderName(sender) }))}
      value={value}
      onChange={onChange}
      error={error}
      searchable
      clearable
    />
  )
}

export function OrderingField({ value, error, onChange }: FieldProps<Ordering>) {
  return (
    <Switch
      label="Keep the order of each conversation"
      description="Events of one sender and one contact are sent one after another. While one is retried, for up to nine hours, later events of this contact wait. Events of other contacts do not wait."
      checked={value === 'conversation'}
      onChange={(event) => onChange(event.currentTarget.checked ? 'conversation' : 'none')}
      error={error}
    />
  )
}

/** Names and values of headers. Saved values are not shown. */
export function HeadersField({ value: drafts, error, onChange }: FieldProps<HeaderDraft[]>) {
  const change = (key: number, changes: Partial<HeaderDraft>) =>
    onChange(drafts.map((each) => (each.key === key ? { ...each, ...changes } : each)))
  return (
    <fieldset className={styles.headers}>
      <legend>Headers</legend>
      <p className="quiet small">
        Added to every request, for example to pass a gateway. Values are stored encrypted and not shown again.
      </p>
      <Stack gap={2}>
        {drafts.map(({ key, name, value, isSaved }, index) => (
          <div key={key} className={styles.header}>
            <TextInput
              aria-label={`Header ${index + 1}`}
              placeholder="Authorization"
              value={name}
              readOnly={isSaved}
              onChange={(event) => change(key, { name: event.currentTarget.value })}
              maxLength={100}
              autoComplete="off"
              spellCheck={false}
            />
            <PasswordInput
              aria-label={`Value ${index + 1}`}
              placeholder={isSaved ? 'Unchanged' : 'Value'}
              value={value}
              onChange={(event) => change(key, { value: event.currentTarget.value })}
              maxLength={2000}
              autoComplete="off"
            />
            <IconButton
              icon="trash"
              label={`Remove header ${index + 1}`}
              onClick={() => onChange(drafts.filter((each) => each.key !== key))}
            />
          </div>
        ))}
        {error && (
          <p role="alert" className={styles.problem}>
            {error}
          </p>
        )}
        {drafts.length < headersMax && (
          <div>
            <Button
              size="s"
              icon="plus"
              onClick={() => onChange([...drafts, { key: ++keys, name: '', value: '', isSaved: false }])}
            >
              Add header
            </Button>
          </div>
        )}
      </Stack>
    </fieldset>
  )
}
